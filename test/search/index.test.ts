import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { SearchFailed, type SearchScope } from "#projections/passages/engine.ts";
import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { openPassageIndex } from "#infra/meilisearch/passageIndex.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { anIndex, aPassage } from "./passages.ts";

const its = await anIndex();
const where = ({ organization_id, collection_id }: IndexedPassage): SearchScope => ({
  organization_id,
  collection_ids: [collection_id],
  document_ids: [],
  tags: [],
  reader: [],
});
const found = async (words: string, within: SearchScope, index = its.id) =>
  (await its.engine.search(index, within, [{ words, matching: "all", limit: 10 }]))[0]!;
const keys = async (words: string, within: SearchScope) =>
  (await found(words, within)).ids.map(({ document_id, generation, seq }) => `${document_id} ${generation} ${seq}`);

test("a stored passage is found and returned unchanged, and storing it again replaces it", async () => {
  const passage = aPassage("The kettle whistles.", {
    page: 4,
    section: "Kitchen > Tea",
    lead: "Before that.",
    tags: ["x"],
  });
  await its.put([passage]);
  const { ids, total } = await found("kettle", where(passage));
  expect(ids).toEqual([{ document_id: passage.document_id, generation: 1, seq: 0 }]);
  expect(total).toBe(1);
  const fetched = { ...ids[0], title: "A document Kitchen > Tea", page: 4, section: "Kitchen > Tea" };
  expect(await its.engine.fetch(its.id, where(passage), ids)).toEqual([
    { ...fetched, lead: "Before that.", text: "The kettle whistles.", start: 0 },
  ]);
  await its.put([{ ...passage, text: "The samovar hums." }]);
  expect((await found("kettle", where(passage))).ids).toEqual([]);
  expect((await found("samovar", where(passage))).ids).toEqual(ids);
});

test("words of the document's name, of its section and of the lead find a passage", async () => {
  const passage = aPassage("Text.", { name: "Handbook.pdf", section: "Leave > Parental", lead: "vacation" });
  await its.put([passage]);
  for (const words of ["handbook", "parental", "vacation"])
    expect((await found(words, where(passage))).total, words).toBe(1);
});

test("generations below a given one are removed, or the whole document", async () => {
  const [a, b] = [aPassage("lantern"), aPassage("lantern")];
  const generations = (passage: IndexedPassage) => [1, 2, 10].map((generation) => ({ ...passage, generation }));
  await its.put([...generations(a), ...generations(b)]);
  const remove = async (document_id: string, below_generation: number | null) =>
    its.index.waitFor(await its.index.remove(its.id, [{ document_id, below_generation }]));
  await remove(a.document_id, 10);
  expect(await keys("lantern", where(a))).toEqual([`${a.document_id} 10 0`]);
  await remove(b.document_id, null);
  expect(await keys("lantern", where(b))).toEqual([]);
  const [outcome] = (await remove(newId(), 3)).values();
  expect(outcome).toEqual({ ok: true, finished_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  await its.index.waitFor(await its.index.remove(its.id, []));
  expect(await keys("lantern", where(a))).toHaveLength(1);
});

test("the index is listed by generation, and one generation is removed separately", async () => {
  const fourth = `${its.prefix}-passages-00000004`;
  await its.index.create(fourth);
  expect(await its.index.generations(fourth)).toEqual([]);
  const a = aPassage("one");
  const of = (generation: number, passages: number) => ({ document_id: a.document_id, generation, passages });
  const many = Array.from({ length: 12_000 }, (_, seq) => ({ ...a, generation: 2, seq, text: "" }));
  await its.put([a, { ...a, seq: 1 }, { ...a, generation: 3 }, ...many], fourth);
  expect(await its.index.generations(fourth)).toEqual([of(1, 2), of(3, 1), of(2, 12_000)]);
  const out = { document_id: a.document_id, below_generation: null, only_generation: 2 };
  await its.index.waitFor(await its.index.remove(fourth, [out]));
  expect(await its.index.generations(fourth)).toEqual([of(1, 2), of(3, 1)]);
  await its.index.drop(fourth);
});

test("a long queue is sent in several changes, in order", async () => {
  const passage = aPassage("");
  const passages = Array.from({ length: 25 }, (_, seq) => ({ ...passage, seq, text: `brick ${"é".repeat(100_000)}` }));
  const changes = await its.index.put(its.id, passages);
  expect(changes).toHaveLength(3);
  const outcomes = await its.index.waitFor(changes);
  expect(changes.map((change) => outcomes.get(change)?.ok)).toEqual([true, true, true]);
  expect((await found("brick", where(passage))).total).toBe(25);
});

test("a change that the server refuses or does not know is reported as failed", async () => {
  const [refused] = await its.index.remove(`${its.prefix}-passages-gone`, []);
  const unknown = 4_000_000_000;
  const outcomes = await its.index.waitFor([refused!, unknown]);
  expect(outcomes.get(refused!)).toEqual({ ok: false, error: expect.stringContaining("index_not_found") });
  expect(outcomes.get(unknown)).toMatchObject({ ok: false });
});

test("a removal that fails for the vectors alone is reported", async () => {
  const fifth = `${its.prefix}-passages-00000005`;
  await its.index.create(fifth);
  const headers = { authorization: `Bearer ${its.key}`, "content-type": "application/json" };
  // without settings, its documents cannot be filtered
  const body = JSON.stringify({ uid: `${fifth}-v3`, primaryKey: "pk" });
  const reply = await fetch(`${its.url}/indexes`, { method: "POST", headers, body });
  await its.index.waitFor([((await reply.json()) as { taskUid: number }).taskUid]);
  const changes = await its.index.remove(fifth, [{ document_id: newId(), below_generation: null }]);
  const outcomes = await its.index.waitFor(changes);
  expect(changes.map((change) => outcomes.get(change)?.ok)).toEqual([false, true]);
  await its.index.drop(fifth);
});

test("indexes are created, listed and dropped, and only those of this deployment are listed", async () => {
  const second = `${its.prefix}-passages-00000002`;
  expect(await its.index.exists(second)).toBe(false);
  await its.index.create(second);
  await its.index.create(second);
  expect(await its.index.exists(second)).toBe(true);
  const { url, key } = its;
  const other = openPassageIndex({ url, key, prefix: its.prefix.slice(0, -1) });
  expect(await other.list()).toEqual([]);
  expect(await other.exists(its.id)).toBe(false);
  await other.close();
  expect((await its.index.list()).toSorted()).toEqual([its.id, second]);
  await its.index.drop(second);
  await its.index.drop(second);
  expect(await its.index.list()).toEqual([its.id]);
});

test("an index has a marker that no search finds; an emptied index counts as lost, and a search in it fails", async () => {
  const passage = aPassage("The pendulum swings.");
  const third = `${its.prefix}-passages-00000003`;
  await its.index.create(third);
  expect(await its.index.count(third)).toBe(0);
  await its.put([passage], third);
  expect(await its.index.count(third)).toBe(1);
  for (const words of ["", "marker"])
    expect(await found(words, { ...where(passage), collection_ids: ["marker"] }, third)).toMatchObject({ ids: [] });
  expect((await found("", where(passage), third)).total).toBe(1);
  await its.index.warm(third);
  const headers = { authorization: `Bearer ${its.key}` };
  await fetch(`${its.url}/indexes/${third}/documents`, { method: "DELETE", headers });
  await expect.poll(() => its.index.exists(third)).toBe(false);
  await expect(found("pendulum", where(passage), third)).rejects.toThrow(SearchFailed);
  await its.index.drop(third);
});

test("a search returns only keys, even in a warmed index of an earlier release", async () => {
  const passage = aPassage("The metronome ticks.");
  const old = `${its.prefix}-passages-00000004`;
  await its.index.create(old);
  const send = async (path: string, method: string, body: object) => {
    const headers = { authorization: `Bearer ${its.key}`, "content-type": "application/json" };
    const reply = await fetch(`${its.url}/indexes/${old}${path}`, { method, headers, body: JSON.stringify(body) });
    return (await reply.json()) as any;
  };
  const shown = async () => Object.keys((await send("/search", "POST", { q: "metronome" })).hits[0]);
  await its.put([passage], old);
  expect(await shown()).toEqual(["pk"]);
  const { taskUid } = await send("/settings", "PATCH", { displayedAttributes: ["*"] });
  await its.index.waitFor([taskUid]);
  expect(await shown()).toContain("text");
  await its.index.warm(old);
  await expect.poll(shown).toEqual(["pk"]);
  const { ids } = await found("metronome", where(passage), old);
  expect(await its.engine.fetch(old, where(passage), ids)).toMatchObject([{ text: "The metronome ticks." }]);
  await its.index.drop(old);
});

test("a search fails, instead of being empty, if the index is lost, the key is wrong or no server answers", async () => {
  const passage = aPassage("anchor");
  const asking = (engine: typeof its.engine, index = its.id) =>
    engine.search(index, where(passage), [{ words: "anchor", matching: "all", limit: 1 }]);
  await expect(asking(its.engine, `${its.prefix}-passages-lost`)).rejects.toThrow(SearchFailed);
  await expect(its.engine.fetch(`${its.prefix}-passages-lost`, where(passage), [{ ...passage }])).rejects.toThrow(
    SearchFailed,
  );
  for (const place of [
    { url: its.url, key: "wrong" },
    { url: "http://127.0.0.1:9", key: its.key },
  ]) {
    const engine = openSearchEngine(place);
    await expect(asking(engine)).rejects.toThrow(SearchFailed);
    await engine.close();
  }
});

test("a search with no collection or an invalid document id finds nothing", async () => {
  const passage = aPassage("harbour");
  await its.put([passage]);
  const within = where(passage);
  expect((await found("harbour", within)).total).toBe(1);
  for (const hostile of ['x" OR org EXISTS', "]", "", passage.document_id + '"'])
    expect((await found("harbour", { ...within, document_ids: [hostile] })).total, hostile).toBe(0);
  expect((await found("harbour", { ...within, collection_ids: [] })).total).toBe(0);
  expect((await found("harbour", { ...within, organization_id: newId() })).total).toBe(0);
  expect((await found("harbour", { ...within, organization_id: "x] OR org EXISTS" })).total).toBe(0);
});

test("tags are compared exactly, whatever they contain", async () => {
  const tags = ["a", "A", "é", "e", "\\", '"', "'", "x\\", 'x" OR org != "', "a\nb", " ", "tag ".repeat(500), "🏷️"];
  const organization_id = newId();
  const collection_id = newId();
  const passages = tags.map((tag) => aPassage("tagged", { organization_id, collection_id, tags: [tag, "all"] }));
  await its.put(passages);
  const within = where(passages[0]!);
  for (const [n, tag] of tags.entries())
    expect((await found("tagged", { ...within, tags: [tag] })).ids, tag).toMatchObject([
      { document_id: passages[n]!.document_id },
    ]);
  expect((await found("tagged", { ...within, tags: ["a", "A", "none"] })).total).toBe(2);
  expect((await found("tagged", { ...within, tags: ["all"] })).total).toBe(tags.length);
  expect((await found("tagged", { ...within, tags: ['x"] OR tags EXISTS OR org IN ["'] })).total).toBe(0);
});
