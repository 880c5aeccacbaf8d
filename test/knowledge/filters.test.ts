import { beforeAll, describe, expect, test } from "vitest";
import { realFile } from "../files/index.ts";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
const ids: Record<string, string> = {};
let between = "";

beforeAll(async () => {
  library = await openLibrary();
  await library.collect("Contracts");
  const push = async (name: string, more: object) => {
    const { body } = await library.push("contracts", { text: `The contract ${name} names a price.`, name, ...more });
    ids[name] = (await library.ended(body.id)).id;
  };
  await push("one", { tags: ["old", "paper"], metadata: { year: 2023, kind: "lease", open: true, due: "2024-05-01" } });
  between = new Date().toISOString();
  await push("two", { tags: ["paper"], metadata: { year: 2024, kind: "sale", open: false, due: "2025-01-31" } });
  await push("three", { format: "text", metadata: { year: "2024", weight: -1.5 } });
  const fields: [string, string][] = [["metadata", JSON.stringify({ kind: "guide", weight: 12 })]];
  ids["guide"] = (await library.keep("contracts", { name: "guide.pdf", content: realFile("guide.pdf"), fields })).id;
});

const found = async (filter: object, query = "contract lamp"): Promise<string[]> => {
  const { status, body } = await library.search({ query, filter, limit: 100 });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.results.map(({ document }: any) => document.name).sort();
};
const GUIDE = "guide.pdf";

describe("a filter of a search", () => {
  test.each<[what: string, filter: object, names: string[]]>([
    ["nothing", {}, [GUIDE, "one", "three", "two"]],
    ["any tag", { tags: { any: ["old", "other"] } }, ["one"]],
    ["all tags", { tags: { all: ["old", "paper"] } }, ["one"]],
    ["types", { types: ["pdf", "text/plain"] }, [GUIDE, "three"]],
    ["a text", { metadata: { kind: "lease" } }, ["one"]],
    ["one of several values", { metadata: { kind: ["sale", "guide"] } }, [GUIDE, "two"]],
    ["a number, which is not a text", { metadata: { year: 2024 } }, ["two"]],
    ["a boolean", { metadata: { open: false } }, ["two"]],
    ["bounds of numbers", { metadata: { year: { gte: 2023, lt: 2024 } } }, ["one"]],
    ["bounds below zero", { metadata: { weight: { gt: -2, lte: -1.5 } } }, ["three"]],
    ["bounds of texts", { metadata: { due: { gte: "2025-01-01" } } }, ["two"]],
    ["several keys", { metadata: { kind: "sale", open: true } }, []],
    ["a key that no document has", { metadata: { other: "x" } }, []],
    ["bounds that exclude each other", { metadata: { year: { gt: 3000, lt: 2000 } } }, []],
  ])("by %s finds only matching documents", async (_what, filter, names) => {
    expect(await found(filter)).toEqual(names);
  });

  test("by time finds documents by their upload and by their last change", async () => {
    expect(await found({ created_before: between })).toEqual(["one"]);
    expect(await found({ created_after: between })).toEqual([GUIDE, "three", "two"]);
    expect(await found({ updated_before: between })).toEqual(["one"]);
    expect(await found({ updated_after: between, metadata: { kind: "sale" } })).toEqual(["two"]);
    expect(await found({ created_after: between, created_before: between })).toEqual([]);
  });

  test.each([
    [{ kind: "lease" }, "filter.kind"],
    [{ types: ["exe"] }, "filter.types[0]"],
    [{ created_after: "yesterday" }, "filter.created_after"],
    [{ metadata: { "a b": 1 } }, "filter.metadata.a b"],
    [{ metadata: { a: {} } }, "filter.metadata.a"],
    [{ metadata: { a: [] } }, "filter.metadata.a"],
    [{ metadata: { a: { between: 1 } } }, "filter.metadata.a.between"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 1])) }, "filter.metadata"],
    ["x", "filter"],
  ])("of the form %j is refused with its position", async (filter, param) => {
    const { status, body } = await library.search({ query: "contract", filter });
    expect([status, body.error?.param]).toEqual([400, param]);
  });
});

describe("metadata of a document", () => {
  const get = async (id: string) => (await library.call("GET", `/documents/${id}`)).body;

  test("is returned as it was sent, and absent if there is none", async () => {
    expect((await get(ids["one"]!)).metadata).toEqual({ year: 2023, kind: "lease", open: true, due: "2024-05-01" });
    expect((await get(ids["guide"]!)).metadata).toEqual({ kind: "guide", weight: 12 });
    const { body } = await library.push("contracts", { text: "Nothing is noted." });
    expect(body).not.toHaveProperty("metadata");
  });

  test("changes without reading the file again, and searches follow", async () => {
    const before = await get(ids["guide"]!);
    const { status, body } = await library.call("PATCH", `/documents/${ids["guide"]}`, {
      metadata: { kind: "manual" },
    });
    expect([status, body.metadata, body.status]).toEqual([200, { kind: "manual" }, "ready"]);
    expect(body.indexed_at).toBe(before.indexed_at);
    await expect.poll(() => found({ metadata: { kind: "manual" } }), { timeout: 20_000 }).toEqual([GUIDE]);
    expect(await found({ metadata: { kind: "guide" } })).toEqual([]);
    expect((await get(ids["guide"]!)).indexed_at).toBe(before.indexed_at);
  });

  test("stays if a new text comes without metadata, and changes if it comes with some", async () => {
    const push = async (more: object) => {
      const { body } = await library.push("contracts", { external_id: "own", ...more });
      return (await library.ended(body.id)).metadata;
    };
    expect(await push({ text: "First version.", metadata: { n: 1 } })).toEqual({ n: 1 });
    expect(await push({ text: "Second version." })).toEqual({ n: 1 });
    expect(await push({ text: "Second version.", metadata: { n: 2 } })).toEqual({ n: 2 });
    expect(await push({ text: "Third version.", metadata: {} })).toBeUndefined();
  });

  test.each<[what: string, metadata: unknown, param: string]>([
    ["17 keys", Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 1])), "metadata"],
    ["a key of 65 characters", { ["k".repeat(65)]: 1 }, "metadata"],
    ["an empty key", { "": 1 }, "metadata"],
    ["a text of 513 characters", { a: "x".repeat(513) }, "metadata.a"],
    ["null as a value", { a: null }, "metadata.a"],
    ["an object as a value", { a: { b: 1 } }, "metadata.a"],
    ["a text in its place", "x", "metadata"],
  ])("with %s is refused", async (_what, metadata, param) => {
    const { status, body } = await library.push("contracts", { text: "x", metadata });
    expect(status).toBe(400);
    expect(body.error.param).toContain(param);
    const fields: [string, string][] = [["metadata", JSON.stringify(metadata)]];
    const uploaded = await library.upload("contracts", { content: `Refused ${JSON.stringify(metadata)}`, fields });
    expect([uploaded.status, uploaded.body.error?.param]).toEqual([400, "metadata"]);
  });

  test("from a form omits the names of JavaScript's own properties", async () => {
    const fields: [string, string][] = [["metadata", '{"__proto__": 1}']];
    const { status, body } = await library.upload("contracts", { content: "Kept.", fields });
    expect([status, body.metadata]).toEqual([202, undefined]);
  });
});
