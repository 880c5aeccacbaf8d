import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { longestTurn } from "#test/computingTime.ts";
import type { Db } from "../projection.ts";
import { passageKey } from "./candidates.ts";
import type { EngineQuery, PassageId, SearchEngine, SearchScope } from "./engine.ts";
import { findHits } from "./findHits.ts";
import { selectLive } from "./liveCandidates.ts";
import { readQuestion } from "./terms.ts";

const AT = new Date("2026-01-01T00:00:00Z");
const LATE = new Date("2026-06-01T00:00:00Z");
const collection_id = newId();

/** An index of passages with the word "alpha", ten of each document. The last documents have changed late. */
function openLibrary(count: number, late: number) {
  const documents = Array.from({ length: count / 10 }, newId);
  const changed = new Set(documents.slice(documents.length - late));
  const ids: PassageId[] = documents.flatMap((document_id) =>
    Array.from({ length: 10 }, (_, seq) => ({ document_id, generation: 1, seq })),
  );
  const asked: EngineQuery[] = [];
  const engine: SearchEngine = {
    nearest: async () => [],
    search: async (_index, _within, queries) => {
      asked.push(...queries);
      return queries.map(({ limit, offset = 0 }) => ({ ids: ids.slice(offset, offset + limit), total: count }));
    },
    fetch: async (_index, _within, wanted) =>
      wanted.map((id) => ({ ...id, title: "", page: null, section: null, lead: "", text: "alpha" })),
  };
  const toRow = (id: string) => ({
    id,
    collection_id,
    live_generation: 1,
    name: '"a"',
    collection: '"c"',
    mime_type: '"text/plain"',
    tags: "[]",
    metadata: null,
    readers: null,
    warnings: null,
    created_at: AT,
    updated_at: changed.has(id) ? LATE : AT,
  });
  const db = { query: async (_sql: string, [, wanted]: unknown[]) => (wanted as string[]).map(toRow) } as unknown as Db;
  return { asked, context: { db, engine, index: "i" } };
}

const unfiltered: SearchScope = {
  organization_id: newId(),
  collection_ids: [collection_id],
  document_ids: [],
  tags: [],
  reader: [],
};
const noFilter = { any_tags: [], all_tags: [], types: [], created: {}, metadata: [] };
/** The index does not know these changes, so only the read model can drop hits that do not match. */
const changedLate: SearchScope = { ...unfiltered, filter: { ...noFilter, updated: { from: LATE } } };

test("hits far down are found in small requests where the index cannot check a filter", async () => {
  const { asked, context } = openLibrary(20_000, 1);
  const found = await findHits({ ...context, within: changedLate }, readQuestion("alpha"), { from: 0, to: 9 });
  expect(found).toMatchObject({ isCut: false, isStable: true });
  expect(found.hits).toHaveLength(9);
  expect(Math.max(...asked.map(({ limit }) => limit))).toBeLessThanOrEqual(2_000);
});

test("a search without a match in hundreds of thousands of passages gives up with an error", async () => {
  const { asked, context } = openLibrary(450_000, 0);
  const found = await findHits({ ...context, within: changedLate }, readQuestion("alpha"), { from: 0, to: 9 });
  expect(found).toMatchObject({ hits: [], isCut: true });
  expect(asked.length).toBeLessThan(250);
});

test("pages of a search without a filter need no further requests", async () => {
  const { asked, context } = openLibrary(20_000, 0);
  const found = await findHits({ ...context, within: unfiltered }, readQuestion("alpha"), { from: 0, to: 9 });
  expect(found).toMatchObject({ isCut: false });
  expect(found.hits).toHaveLength(9);
  expect(asked).toHaveLength(3);
});

test("pages behind the ranked passages have the same order, however far they reach", async () => {
  const { context } = openLibrary(20_000, 0);
  const { engine } = context;
  // the second word has the list of the first in reverse, so that the order by weight is another than that of the lists
  const isReversed = ({ words }: EngineQuery) => words.startsWith("b");
  const search: SearchEngine["search"] = async (index, scope, queries) => {
    const answers = await engine.search(
      index,
      scope,
      queries.map((query) =>
        isReversed(query) ? { ...query, offset: 20_000 - (query.offset ?? 0) - query.limit } : query,
      ),
    );
    return answers.map((answer, n) => (isReversed(queries[n]!) ? { ...answer, ids: answer.ids.toReversed() } : answer));
  };
  const reversing = { ...context, engine: { ...engine, search }, within: unfiltered };
  const read = async (to: number) => {
    const { hits } = await findHits(reversing, readQuestion("alpha beta"), { from: 200, to });
    return hits.map(({ passage }) => passageKey(passage));
  };
  const far = await read(300);
  expect(far).toHaveLength(100);
  expect(await read(250)).toEqual(far.slice(0, 50));
});

test("a scope of thousands of documents and tags is compared with thousands of passages in little time", async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `tag number ${n}`);
  const document_ids = Array.from({ length: 5_000 }, newId);
  const tags = JSON.stringify([...Array.from({ length: 99 }, (_, n) => `none ${n}`), "tag number 999"]);
  const { context } = openLibrary(0, 0);
  const { query } = context.db;
  const db = {
    query: async (sql: string, values: unknown[]) =>
      (await query<object>(sql, values)).map((row) => ({ ...row, tags })),
  } as unknown as Db;
  const candidates = Array.from({ length: 4_000 }, (_, n) => {
    const document_id = document_ids[4_000 + (n % 1_000)]!;
    return { document_id, generation: 1, seq: n, key: `${document_id} 1 ${n}`, weight: 1 };
  });
  const within = { ...unfiltered, document_ids, tags: names(1_000) };
  let live: unknown[] = [];
  const select = async () => void ({ live } = await selectLive(db, within, candidates, 4_000));
  expect(await longestTurn(select)).toBeLessThan(50);
  expect(live).toHaveLength(4_000);
});
