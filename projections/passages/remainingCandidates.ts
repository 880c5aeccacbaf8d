import { weightAtRank, passageKey, type Candidate } from "./candidates.ts";
import type { SearchEngine, SearchScope } from "./engine.ts";
import type { WeightedTerm } from "./rank.ts";
import type { Question } from "./terms.ts";

/** Passages per request. Few requests cover most pages, and each takes about 10 ms. */
const BATCH_SIZE = 2_000;

/**
 * The candidates after the `ranked` ones, without duplicates: those with a quoted phrase, with the rarest term, with the next
 * rarest, each in the search server's order. The batches are independent of the page, so that pages fit together.
 */
export async function* remainingCandidates(
  { engine, index, within }: { engine: SearchEngine; index: string; within: SearchScope },
  { phrases }: Question,
  terms: WeightedTerm[],
  ranked: { key: string }[],
): AsyncGenerator<Candidate[]> {
  const known = new Set(ranked.map(({ key }) => key));
  const rarestFirst = terms.toSorted((a, b) => b.idf - a.idf);
  const lists = [
    ...phrases.map((phrase) => ({ words: `"${phrase}"`, idf: rarestFirst[0]?.idf ?? 0 })),
    ...rarestFirst.map(({ prefix, idf }) => ({ words: prefix, idf })),
  ];
  for (const { words, idf } of lists)
    for (let [offset, end] = [0, 1]; offset < end; offset += BATCH_SIZE) {
      const [answer] = await engine.search(index, within, [{ words, matching: "all", limit: BATCH_SIZE, offset }]);
      end = answer!.total;
      const batch = answer!.ids.map((id, rank) => ({
        ...id,
        key: passageKey(id),
        weight: weightAtRank(idf, offset + rank),
      }));
      yield batch.filter(({ key }) => !known.has(key));
      for (const { key } of batch) known.add(key);
    }
}
