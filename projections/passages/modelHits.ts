import { passageKey } from "./candidates.ts";
import { SearchFailed, type QueryVector } from "./engine.ts";
import { filterInTurns, readHits, type FoundHits, type SearchContext, type ResultRange } from "./findHits.ts";
import { fuseHits, type NearHit } from "./fuseHits.ts";
import type { Hit } from "./groupHits.ts";
import { selectLive } from "./liveCandidates.ts";
import { ModelUnavailable, type Degradation, type QueryModels } from "./models.ts";
import { createOperatorTest, type Operators } from "./operators.ts";

/** Hits of the words that are fused with the nearest passages. Further hits keep the order of the words. */
const MAX_FUSED = 200;
const MAX_NEAREST = 100;
/** Hits that an endpoint reranks, and the characters of each that it reads. */
const MAX_RERANKED = 50;
const MAX_RERANKED_TEXT = 4_000;

/** A query answered with the help of models. */
export interface ModelQuery {
  query: string;
  /** Requested before the search by words; undefined if there is no endpoint. */
  vector: Promise<QueryVector | undefined>;
  rerank: QueryModels["rerank"];
  /** Degradations are added to this array. */
  degraded: Degradation[];
}

/** Requests the vector of a query, if the organization has an endpoint for it. */
export function askModels({ embed, rerank }: QueryModels, query: string): ModelQuery | undefined {
  if (!embed && !rerank) return undefined;
  const degraded: Degradation[] = [];
  const vector = embed ? orWithout(degraded, "embeddings", embed(query)) : Promise.resolve(undefined);
  return { query, vector, rerank, degraded };
}

async function orWithout<T>(degraded: Degradation[], part: Degradation["part"], answer: Promise<T>) {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ModelUnavailable || error instanceof SearchFailed)) throw error;
    if (!degraded.some((known) => known.part === part)) degraded.push({ part, message: error.message });
    return undefined;
  }
}

/** The hits of a page: hits of the words, fused with the nearest passages, and reranked. If an endpoint fails, the words alone answer. */
export async function findModelHits(
  context: SearchContext & { operators?: Operators | undefined },
  { query, vector, rerank, degraded }: ModelQuery,
  findWords: (span: ResultRange) => Promise<FoundHits>,
  { from, to }: ResultRange,
): Promise<FoundHits> {
  const words = findWords({ from: 0, to: MAX_FUSED });
  const nearest = findNearest(context, vector);
  // the nearest passages are awaited first, and the words may fail meanwhile
  words.catch(() => {});
  const near = (await orWithout(degraded, "embeddings", nearest)) ?? [];
  const { hits, isStable, possible, isCut = false } = await words;
  const fused = near.length > 0 ? fuseHits(hits, near, possible) : hits;
  const first = rerank ? ((await orWithout(degraded, "reranking", rankAgain(rerank, query, fused))) ?? fused) : fused;
  const page = first.slice(from, to);
  if (to <= first.length || hits.length < MAX_FUSED) return { hits: page, isStable, possible, isCut };
  const added = first.length - hits.length;
  const rest = await findWords({ from: Math.max(MAX_FUSED, from - added), to: to - added });
  const known = new Set(first.map(({ passage }) => passageKey(passage)));
  const more = rest.hits.length === to - Math.max(first.length, from);
  // The last hit only shows that there are more. If it filled the gap of a duplicate, the next page would repeat it.
  const shown = more ? rest.hits.slice(0, -1) : rest.hits;
  const others = shown.filter(({ passage }) => !known.has(passageKey(passage)));
  const below = first.at(-1)?.score ?? 1;
  page.push(...others.map((hit) => ({ ...hit, score: Math.min(below, hit.score) })));
  return { hits: page, isStable: isStable && rest.isStable, possible, more, isCut: isCut || rest.isCut === true };
}

/** The nearest passages that the scope and the operators allow. Leaves out those of documents that have just changed. */
async function findNearest(
  context: SearchContext & { operators?: Operators | undefined },
  vector: Promise<QueryVector | undefined>,
): Promise<NearHit[]> {
  const questionVector = await vector;
  if (!questionVector) return [];
  const { engine, index, within, db, operators } = context;
  const ids = await engine.nearest(index, within, questionVector, MAX_NEAREST);
  const candidates = ids.map((id) => ({ ...id, key: passageKey(id), weight: 0 }));
  const { live } = await selectLive(db, within, candidates, MAX_NEAREST);
  const nearness = new Map(ids.map((id) => [passageKey(id), id.nearness]));
  const found = await readHits(context, live);
  const hits = found.map((hit) => ({ ...hit, nearness: nearness.get(passageKey(hit.passage))! }));
  return operators ? filterInTurns(hits, createOperatorTest(operators)) : hits;
}

/** The hits in the order of an endpoint. Scores keep their places, so that they still descend. */
async function rankAgain(rerank: NonNullable<QueryModels["rerank"]>, query: string, hits: Hit[]): Promise<Hit[]> {
  const first = hits.slice(0, MAX_RERANKED);
  if (first.length < 2) return hits;
  const texts = first.map(({ passage: { title, text } }) =>
    `${title}\n${text}`.slice(0, MAX_RERANKED_TEXT).toWellFormed(),
  );
  const order = await rerank(query, texts);
  return hits.map((hit, n) => (n < first.length ? { ...first[order[n]!]!, score: hit.score } : hit));
}
