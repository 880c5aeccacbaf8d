import { passageKey } from "./candidates.ts";
import type { Hit } from "./groupHits.ts";

/*
 * The distance of a vector says little by itself: in some spaces everything is near. So a passage only gains by being nearer than
 * the others in its list. The constants were tuned on judged sets, with vectors that are worse than words (ADR 60).
 */

/** The rank of the passage that nearer ones are compared with. */
const CROWD = 9;
/** How much nearer than the crowd a passage must be to stand out, and the weight of each further step. */
const [GAP, WEIGHT] = [0.2, 0.6];
/** If the best hit of the words has a smaller share of the possible score, the words say little, and the order of the nearest passages counts. */
const WEAK = 0.1;
/** The share of a near passage that lacks the words and is not significantly near. It puts such passages last. */
const LAST = 1e-6;

export interface NearHit extends Hit {
  /** Cosine of the angle between its vector and the query's. */
  nearness: number;
}

/** All hits without duplicates, best first. `possible`: the score of a passage with as many occurrences of all query words as possible. */
export function fuseHits(words: Hit[], nearest: NearHit[], possible: number): Hit[] {
  const fused = new Map<string, Hit>();
  const share = ({ score }: Hit): number => (possible > 0 ? score / possible : 0);
  for (const hit of words) fused.set(passageKey(hit.passage), { ...hit, score: share(hit) });
  const best = words[0] ? share(words[0]) : 0;
  const gain = createGain(nearest, Math.max(0, 1 - best / WEAK));
  for (const hit of nearest) {
    const key = passageKey(hit.passage);
    const { passage, document, nearness } = hit;
    // among hits with the same words, an insignificant nearness must not change the order
    const own = fused.get(key)?.score ?? LAST * (1 + nearness);
    fused.set(key, { passage, document, score: own + gain(hit) });
  }
  // the sort is stable, so of equal hits those of the words come first
  return [...fused.values()].toSorted((a, b) => b.score - a.score);
}

/** What nearness adds to a share. `weakness`: from 0 if the words say much to 1 if they say nothing. */
function createGain(nearest: NearHit[], weakness: number): (hit: NearHit) => number {
  const [first, last] = [nearest[0]?.nearness ?? 0, nearest.at(-1)?.nearness ?? 0];
  const crowd = nearest[CROWD]?.nearness ?? last;
  const range = first - last || 1;
  return ({ nearness }) => WEIGHT * Math.max(0, nearness - crowd - GAP) + (weakness * (nearness - last)) / range;
}
