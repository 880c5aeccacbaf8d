import { expect, test, vi } from "vitest";
import { openLibrary } from "./library.ts";

/* Searches without pause while documents are replaced, reprocessed and deleted: a document is never missing, never shown in two generations, and never shown once it is deleted. */

const library = await openLibrary();
const shelf = await library.collect("Changing");

const CHAPTERS = 6;
const edition = (name: string, number: number) =>
  Array.from(
    { length: CHAPTERS },
    (_, n) => `# ${name} ${n}\n\nEdition ${number} of ${name}, a page of the almanac. ${"Tide and moon. ".repeat(40)}`,
  ).join("\n\n");

interface SearchResult {
  startedAt: number;
  /** The editions in the answer, by document. */
  editions: Map<string, Set<string>>;
  /** Passages that the answer has more than once. */
  repeated: number;
}

async function searchAll(): Promise<SearchResult> {
  const startedAt = performance.now();
  const { status, body } = await library.search({ query: "almanac edition", collections: [shelf], limit: 100 });
  expect(status).toBe(200);
  const editions = new Map<string, Set<string>>();
  for (const { document, passages } of body.results)
    editions.set(
      document.id,
      new Set(passages.flatMap(({ content }: any) => [...content.matchAll(/Edition (\d+)/g)].map(([, n]) => n))),
    );
  const positions = body.results.flatMap(({ document, passages }: any) =>
    passages.map(({ seq }: any) => `${document.id} ${seq}`),
  );
  return { startedAt, editions, repeated: positions.length - new Set(positions).size };
}

const ROUNDS = 12;
/** Searches that must complete in each round, so that a slow machine searches during the changes too. */
const SEARCHES_PER_ROUND = 17;

test("searches during replacements, reprocessing and deletions are always complete and consistent", async () => {
  const push = (external_id: string, number: number) =>
    library.push(shelf, { text: edition(external_id, number), name: external_id, external_id });
  const replaced = await library.ended((await push("replaced", 1)).body.id);
  const reprocessed = await library.keep(shelf, { content: edition("reprocessed", 1), name: "reprocessed.md" });
  const goes = await Promise.all(
    Array.from({ length: ROUNDS }, async (_, n) => library.ended((await push(`goes-${n}`, 1)).body.id)),
  );
  const before = await searchAll();
  expect(before.editions.size).toBe(2 + ROUNDS);

  let done = false;
  const results: SearchResult[] = [];
  const searchUntilDone = async () => {
    while (!done) results.push(await searchAll());
  };
  const deletedAt = new Map<string, number>();
  const ready = (id: string, since: string) =>
    library.until(`/documents/${id}`, ({ status, indexed_at }) => status === "ready" && indexed_at > since);
  const change = async () => {
    let [a, b] = [replaced, reprocessed];
    for (let round = 0; round < ROUNDS; round++) {
      await push("replaced", round + 2);
      expect((await library.call("POST", `/documents/${b.id}/reprocess?reextract=${round % 2 === 0}`)).status).toBe(
        202,
      );
      const { id } = goes[round]!;
      expect((await library.call("DELETE", `/documents/${id}`)).status).toBe(204);
      deletedAt.set(id, performance.now());
      [a, b] = await Promise.all([ready(a.id, a.indexed_at), ready(b.id, b.indexed_at)]);
      await vi.waitUntil(() => results.length > SEARCHES_PER_ROUND * (round + 1), { timeout: 60_000 });
    }
  };
  const changing = change().finally(() => (done = true));
  await Promise.all([searchUntilDone(), searchUntilDone(), changing]);

  const stayed: string[] = [replaced.id, reprocessed.id];
  const wrong = { missing: 0, mixed: 0, repeated: 0, deleted: 0 };
  for (const { startedAt, editions, repeated } of results) {
    wrong.repeated += repeated;
    wrong.missing += stayed.filter((id) => !editions.has(id)).length;
    wrong.mixed += [...editions.values()].filter((found) => found.size !== 1).length;
    wrong.deleted += [...editions.keys()].filter((id) => (deletedAt.get(id) ?? Infinity) < startedAt).length;
  }
  expect(wrong).toEqual({ missing: 0, mixed: 0, repeated: 0, deleted: 0 });
  const after = await searchAll();
  expect([...after.editions].map(([id, found]) => [id, [...found]]).sort()).toEqual(
    [
      [stayed[0], [String(ROUNDS + 1)]],
      [stayed[1], ["1"]],
    ].sort(),
  );
});
