import { passageKey } from "./candidates.ts";
import type { Hit } from "./groupHits.ts";

/*
 * How near a vector is says little by itself: in some spaces everything is near. So a passage gains only by what it is nearer than
 * the others of its list. The numbers were chosen by the judged sets, with vectors that are worse than words (ADR 60).
 */

/** The place in the list of the nearest that the nearer ones are compared with. */
const CROWD = 9;
/** A passage that is so much nearer than the crowd stands out; and what each further step of nearness counts. */
const [GAP, WEIGHT] = [0.2, 0.6];
/** Words whose best hit has less than this share of the possible score say little; the nearest count by their order then. */
const WEAK = 0.1;
/** Nearest passages that neither words nor nearness speak for come last. */
const LAST = 1e-6;

export interface NearHit extends Hit {
  /** The cosine of the angle between its vector and the query's. */
  nearness: number;
}

/** Every hit once, best first. `possible`: the score of a passage that has all words of the query as often as can be. */
export function fuse(words: Hit[], nearest: NearHit[], possible: number): Hit[] {
  const fused = new Map<string, Hit>();
  const share = ({ score }: Hit): number => (possible > 0 ? score / possible : 0);
  for (const hit of words) fused.set(passageKey(hit.passage), { ...hit, score: share(hit) });
  const best = words[0] ? share(words[0]) : 0;
  const gain = createGain(nearest, Math.max(0, 1 - best / WEAK));
  for (const hit of nearest) {
    const key = passageKey(hit.passage);
    const { passage, document, nearness } = hit;
    // of hits with the same words, none moves up because of a nearness that says nothing
    const own = fused.get(key)?.score ?? LAST * (1 + nearness);
    fused.set(key, { passage, document, score: own + gain(hit) });
  }
  // the sort is stable: of equal hits, that of the words is first
  return [...fused.values()].toSorted((a, b) => b.score - a.score);
}

/** What nearness adds to a share. `weakness` is 0 where words say much, 1 where they say nothing. */
function createGain(nearest: NearHit[], weakness: number): (hit: NearHit) => number {
  const [first, last] = [nearest[0]?.nearness ?? 0, nearest.at(-1)?.nearness ?? 0];
  const crowd = nearest[CROWD]?.nearness ?? last;
  const range = first - last || 1;
  return ({ nearness }) => WEIGHT * Math.max(0, nearness - crowd - GAP) + (weakness * (nearness - last)) / range;
}
