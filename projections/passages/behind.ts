import { faded, keyOf, type Candidate } from "./candidates.ts";
import type { SearchEngine, Within } from "./engine.ts";
import type { Weighed } from "./rank.ts";
import type { Question } from "./terms.ts";

/** Passages of a term that are asked for at a time: few requests for most pages, and each takes some 10 ms. */
const AT_ONCE = 2_000;

/**
 * What stands behind the `ranked` passages, each once: those with a quoted phrase, with the rarest term, with the next, in
 * the order of the search server. Always asked for in the same steps, so that pages fit together.
 */
export async function* behind(
  { engine, index, within }: { engine: SearchEngine; index: string; within: Within },
  { phrases }: Question,
  terms: Weighed[],
  ranked: { key: string }[],
): AsyncGenerator<Candidate[]> {
  const known = new Set(ranked.map(({ key }) => key));
  const rarestFirst = terms.toSorted((a, b) => b.idf - a.idf);
  const lists = [
    ...phrases.map((phrase) => ({ words: `"${phrase}"`, idf: rarestFirst[0]?.idf ?? 0 })),
    ...rarestFirst.map(({ prefix, idf }) => ({ words: prefix, idf })),
  ];
  for (const { words, idf } of lists)
    for (let [offset, end] = [0, 1]; offset < end; offset += AT_ONCE) {
      const [answer] = await engine.search(index, within, [{ words, matching: "all", limit: AT_ONCE, offset }]);
      end = answer!.total;
      const some = answer!.ids.map((id, rank) => ({ ...id, key: keyOf(id), weight: faded(idf, offset + rank) }));
      yield some.filter(({ key }) => !known.has(key));
      for (const { key } of some) known.add(key);
    }
}
