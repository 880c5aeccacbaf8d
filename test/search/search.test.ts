import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { SearchFailed } from "#projections/passages/engine.ts";
import { searchPassages, SearchTooDeep } from "#projections/passages/search.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { testSearch } from "../harness.ts";
import { aLibrary } from "./library.ts";

const its = await aLibrary();
const nothing = { results: [], has_more: false, degraded: [] };

test("hits are grouped by document in the order of its best passage, each with a citation", async () => {
  const shelf = await its.shelf(undefined, "Manuals");
  const strong = await its.add(
    shelf,
    [
      { text: "Descale the boiler every month; a boiler with scale wastes power.", page: 4, section: "Care" },
      { text: "Nothing about it." },
      { text: "The boiler is warm.", section: "Use > Warm" },
    ],
    { name: "Boiler.pdf" },
  );
  const weak = await its.add(shelf, ["Not here.", "A kettle has no boiler, but it is filled, heated and emptied."], {
    name: "Kettle.txt",
  });
  const { results, has_more } = await its.ask(shelf, "How do I descale the boiler?");
  expect(has_more).toBe(false);
  expect(results.map(({ document }) => document)).toEqual([
    { id: strong, name: "Boiler.pdf", collection_id: shelf.id, collection: "Manuals", version: 1, warnings: [] },
    { id: weak, name: "Kettle.txt", collection_id: shelf.id, collection: "Manuals", version: 1, warnings: [] },
  ]);
  const [first] = results;
  expect(first!.passages.map(({ seq, reference, page, section }) => [seq, reference, page, section])).toEqual([
    [0, "p. 4", 4, "Care"],
    [2, "Use > Warm", null, "Use > Warm"],
    [1, "excerpt 2", null, null],
  ]);
  expect(first!.score).toBe(first!.passages[0]!.score);
  const scores = first!.passages.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(results[1]!.passages).toMatchObject([{ seq: 1, reference: "excerpt 2" }]);
});

test("a search with operators that compares only some candidates reports that there may be more, and refuses pages beyond", async () => {
  const shelf = await its.shelf();
  const texts = Array.from({ length: 1_100 }, (_, n) => `Lighthouse number ${n}`);
  await its.add(shelf, texts);
  const query = "lighthouse -harbour";
  const ask = (offset: number) => its.ask(shelf, query, { operators: true, limit: 100, offset });
  const seen: string[] = [];
  for (let offset = 0; offset < 1_000; offset += 100) {
    const { results, has_more } = await ask(offset);
    expect(has_more).toBe(true);
    seen.push(...results.flatMap(({ passages }) => passages.map(({ content }) => content)));
  }
  expect([seen.length, new Set(seen).size]).toEqual([1_000, 1_000]);
  await expect(ask(1_000)).rejects.toThrow(SearchTooDeep);
  // what all candidates were compared with is whole
  expect(await its.ask(shelf, 'lighthouse "number 7"', { operators: true, limit: 100 })).toMatchObject({
    has_more: false,
  });
});

test("pages beyond the hits that a model reranked repeat no passage and omit none", async () => {
  const shelf = await its.shelf();
  const values = (n: number) => Float32Array.from([Math.cos(n / 1_000), Math.sin(n / 1_000)]);
  const texts = Array.from({ length: 500 }, (_, n) => `Lighthouse number ${n}`);
  // the hundred nearest are among those that the words find after the first two hundred
  await its.add(
    shelf,
    texts.map((text, n) => ({ text, vector: { space: "plain", values: values(n > 200 && n % 3 === 0 ? n : 1_000) } })),
  );
  const models = {
    describe: async () => ({}),
    find: async () => ({ embed: async () => ({ space: "plain", values: values(200) }) }),
  };
  const asked = { query: "lighthouse", collections: [shelf], document_ids: [], tags: [], reader: [] };
  const seen: string[] = [];
  for (let offset = 0; offset < 600; offset += 20) {
    const page = { ...asked, limit: 20, offset };
    const { results, has_more } = await searchPassages(
      { db: its.db, engine: its.engine, models },
      shelf.organization_id,
      page,
    );
    seen.push(...results.flatMap(({ passages }) => passages.map(({ content }) => content)));
    if (!has_more) break;
  }
  expect(seen.length).toBe(new Set(seen).size);
  expect(seen.toSorted()).toEqual(texts.toSorted());
});

test("pages count passages, follow each other without a gap, and report whether there is more", async () => {
  const shelf = await its.shelf();
  const texts = Array.from({ length: 30 }, (_, n) => `Lighthouse number ${n}`);
  for (let n = 0; n < 30; n += 10) await its.add(shelf, texts.slice(n, n + 10));
  const seen: string[] = [];
  for (let offset = 0; offset < 30; offset += 7) {
    const page = await its.ask(shelf, "lighthouse", { limit: 7, offset });
    const passages = page.results.flatMap((result) => result.passages.map(({ content }) => content));
    expect(passages).toHaveLength(Math.min(7, 30 - offset));
    expect(page.has_more).toBe(offset + 7 < 30);
    seen.push(...passages);
  }
  expect(seen.toSorted()).toEqual(texts.toSorted());
  expect(await its.ask(shelf, "lighthouse", { limit: 30 })).toMatchObject({ has_more: false });
  expect(await its.ask(shelf, "lighthouse", { limit: 29 })).toMatchObject({ has_more: true });
  expect(await its.ask(shelf, "lighthouse", { offset: 30 })).toEqual(nothing);
  expect(await its.ask(shelf, "lighthouse", { offset: 1_000_000_000 })).toEqual(nothing);
});

test("deep pages contain every match once", async () => {
  const shelf = await its.shelf();
  const count = 1_500;
  await its.add(
    shelf,
    Array.from({ length: count }, (_, n) => `Pebble ${n}${n % 3 === 0 ? " on the shore" : ""}`),
  );
  const seen = new Set<string>();
  for (let offset = 0; offset < count; offset += 100) {
    const contents = await its.contents(shelf, "pebbles on the shore", { limit: 100, offset });
    expect(contents).toHaveLength(100);
    for (const content of contents) seen.add(content);
    if (offset < 500) expect(contents.every((content) => content.includes("shore"))).toBe(true);
  }
  expect(seen.size).toBe(count);
});

test("pages of a query of frequent words neither repeat nor omit a passage", async () => {
  const shelf = await its.shelf();
  const words = ["anchor", "beacon", "cargo", "ferry", "gull"];
  const texts = Array.from({ length: 700 }, (_, n) =>
    words
      .flatMap((word, w) => Array.from({ length: ((n * (w + 3)) % 7) + (w === n % 5 ? 1 : 0) }, () => word))
      .join(" "),
  ).map((text, n) => `${text} anchor ${n}`);
  await its.add(shelf, texts);
  const seen: string[] = [];
  for (let offset = 0; offset < texts.length; offset += 100)
    seen.push(...(await its.contents(shelf, "anchor beacon cargo ferry", { limit: 100, offset })));
  expect(seen.toSorted()).toEqual(texts.toSorted());
});

test("equal passages are ordered by document and position", async () => {
  const shelf = await its.shelf();
  const ids = [newId(), newId(), newId()];
  for (const id of ids.toReversed()) await its.add(shelf, ["Same words.", "Same words."], { id });
  const { results } = await its.ask(shelf, "same words");
  expect(results.map(({ document }) => document.id)).toEqual(ids.toSorted());
  for (const { passages } of results) expect(passages.map(({ seq }) => seq)).toEqual([0, 1]);
});

test("document ids and tags filter, and any one of the tags is enough", async () => {
  const shelf = await its.shelf();
  const a = await its.add(shelf, ["Ferry times in winter"], { tags: ["harbour", "winter"] });
  const b = await its.add(shelf, ["Ferry times in summer"], { tags: ["harbour"] });
  const c = await its.add(shelf, ["Ferry times"], { tags: [] });
  const found = async (search: object) =>
    (await its.ask(shelf, "ferry", search)).results.map(({ document }) => document.id).toSorted();
  expect(await found({})).toEqual([a, b, c].toSorted());
  expect(await found({ document_ids: [a, c] })).toEqual([a, c].toSorted());
  expect(await found({ tags: ["winter", "unknown"] })).toEqual([a]);
  expect(await found({ tags: ["harbour"] })).toEqual([a, b].toSorted());
  expect(await found({ tags: ["harbour"], document_ids: [b, c] })).toEqual([b]);
  expect(await found({ tags: ["Harbour"] })).toEqual([]);
  expect(await found({ document_ids: [newId()] })).toEqual([]);
  await its.flip(shelf, { id: a, tags: ["moved"] });
  expect(await found({ tags: ["winter"] })).toEqual([]);
});

test("a deleted document is neither found nor counted, even if the index still contains it", async () => {
  const shelf = await its.shelf();
  const [kept, gone, erased] = [
    await its.add(shelf, ["Willow bark"]),
    await its.add(shelf, ["Willow leaf"]),
    await its.add(shelf, ["Willow root"]),
  ];
  await its.db.query("delete from read.documents where id = $1", [gone]);
  await its.db.query("delete from log.keys where thing = $1", [`document-${erased}`]);
  const { results, has_more } = await its.ask(shelf, "willow", { limit: 1 });
  expect(results.map(({ document }) => document.id)).toEqual([kept]);
  expect(has_more).toBe(false);
  await its.db.query("delete from log.keys where thing = $1", [`collection-${shelf.id}`]);
  expect(await its.ask(shelf, "willow")).toEqual(nothing);
});

test("only the live generation of a document is found", async () => {
  const shelf = await its.shelf();
  const id = await its.add(shelf, ["Old harvest report"]);
  await its.put(its.indexed(shelf, ["New harvest report", "More harvest"], { id, generation: 2 }));
  expect(await its.contents(shelf, "harvest report")).toEqual(["Old harvest report"]);
  await its.flip(shelf, { id, generation: 2 });
  expect(await its.contents(shelf, "harvest report")).toEqual(["New harvest report", "More harvest"]);
});

test("many passages of dead generations do not hide the live ones", async () => {
  const shelf = await its.shelf();
  const id = await its.add(
    shelf,
    Array.from({ length: 900 }, () => "Copper copper copper"),
  );
  await its.flip(shelf, { id, generation: 2 });
  await its.add(shelf, ["A long story in which there is, somewhere and only once, a word about copper."]);
  expect(await its.contents(shelf, "copper")).toHaveLength(1);
});

test("a search that cannot match anything finds nothing, and does not call the search server", async () => {
  const engine = openSearchEngine({ url: "http://127.0.0.1:9", key: "" });
  const empty = await its.shelf();
  expect(await its.ask(empty, "anything", {}, engine)).toEqual(nothing);
  const shelf = await its.shelf();
  await its.add(shelf, ["Something"]);
  expect(await its.ask(shelf, "something", { document_ids: [newId()] }, engine)).toEqual(nothing);
  expect(await its.ask(shelf, "?!… -- ()", {}, engine)).toEqual(nothing);
  expect(await its.ask(shelf, "something", { collections: [] }, engine)).toEqual(nothing);
  await expect(its.ask(shelf, "something", {}, engine)).rejects.toThrow(SearchFailed);
  await engine.close();
});

test("a search fails while the index is lost or missing, and works with the index that replaces it", async () => {
  const shelf = await its.shelf();
  const id = await its.add(shelf, ["Granite"]);
  const [lost, next] = [`${its.prefix}-passages-lost`, `${its.prefix}-passages-next`];
  await its.serve(lost);
  await expect(its.ask(shelf, "granite")).rejects.toThrow(SearchFailed);
  await its.index.create(next);
  await its.put(its.indexed(shelf, ["Granite again"], { id }), next);
  let asked = 0;
  const flipping = {
    ...its.engine,
    search: async (...args: Parameters<typeof its.engine.search>) => {
      if (asked++ === 0) await its.serve(next);
      return its.engine.search(...args);
    },
  };
  expect(await its.contents(shelf, "granite", {}, flipping)).toEqual(["Granite again"]);
  await its.db.query("delete from ops.search_index");
  await expect(its.ask(shelf, "granite")).rejects.toThrow(SearchFailed);
  await its.serve(its.id);
  expect(await its.contents(shelf, "granite")).toEqual(["Granite"]);
});

test("an index of the version before filters serves until a new one is filled, and searches are correct meanwhile", async () => {
  const old = `${its.prefix}-passages-0000000f`;
  await its.index.create(old);
  const { master_key } = testSearch();
  const settings = { filterableAttributes: ["org", "coll", "doc", "tags", "gen"] };
  const change = (path: string, method: string, body?: object) =>
    fetch(`${its.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${master_key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }).then((reply) => reply.json() as Promise<any>);
  const { taskUid } = await change(`/indexes/${old}/settings`, "PATCH", settings);
  await its.index.waitFor([taskUid]);
  const on = await its.shelf();
  const [fits, other] = [newId(), newId()];
  for (const id of [fits, other]) {
    await its.put(its.indexed(on, ["A lighthouse."], { id }), old);
    await its.flip(on, { id });
  }
  await its.db.query(`update read.documents set metadata = '{"a":1}' where id = $1`, [fits]);
  const metadata = [{ key: "a", values: [1] }];
  const filter = { any_tags: [], all_tags: [], types: ["text/plain"], created: {}, updated: {}, metadata };
  await its.serve(old, 1);
  const { results } = await its.ask(on, "lighthouse", { filter });
  expect(results.map(({ document }) => document.id)).toEqual([fits]);
  await its.serve(old, 2);
  await expect(its.ask(on, "lighthouse", { filter })).rejects.toThrow(SearchFailed);
  await its.serve(its.id);
});
