import { beforeAll, expect, test } from "vitest";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
const ids: Record<string, string> = {};
beforeAll(async () => {
  library = await openLibrary();
  await library.collect("Contracts");
  await library.collect("Letters");
  const sent: [name: string, collection: string, fields: object][] = [
    ["lease", "contracts", { tags: ["hr", 'a"b'], metadata: { kind: "lease", year: 2026, signed: true } }],
    ["sale", "contracts", { tags: ["legal"], metadata: { kind: "sale", year: "2026" } }],
    ["quote", "contracts", { tags: ['x,"hr"'], metadata: { note: ',"kind":"lease",', "a.b": "\u0000 }" } }],
    ["letter", "letters", { format: "text", metadata: { kind: "lease" } }],
  ];
  for (const [name, collection, fields] of sent)
    ids[name] = (await library.push(collection, { text: `About ${name}.`, name, ...fields })).body.id;
});

const names = async (query: string, path = "/documents"): Promise<string[]> => {
  const { status, body } = await library.call("GET", `${path}${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.total).toBe(body.data.length);
  return body.data.map(({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id));
};

test("all documents are listed, newest first", async () => {
  expect(await names("")).toEqual(["letter", "quote", "sale", "lease"]);
  expect(await names("", "/collections/letters/documents")).toEqual(["letter"]);
});

test.each([
  ["?metadata.kind=lease", ["letter", "lease"]],
  ["?metadata.kind=lease&metadata.kind=sale", ["letter", "sale", "lease"]],
  ["?metadata.kind=lease&metadata.signed=true", ["lease"]],
  // a text and a number
  ["?metadata.year=2026", ["sale", "lease"]],
  ["?metadata.a.b=%00%20%7D", ["quote"]],
  ["?metadata.year=20", []],
  ["?tags=hr", ["lease"]],
  ["?tags=hr&tags=legal", ["sale", "lease"]],
  ["?tags=a%22b", ["lease"]],
  ["?tags=b", []],
  ["?type=txt", ["letter"]],
  ["?type=text/markdown&type=txt&metadata.kind=sale", ["sale"]],
  ["?type=pdf", []],
])("the list of documents with %s contains the matching ones", async (query, expected) => {
  expect(await names(query)).toEqual(expected);
});

test("the documents of a collection are filtered like all documents", async () => {
  expect(await names("?metadata.kind=lease", "/collections/contracts/documents")).toEqual(["lease"]);
});

test.each([
  ["?metadata=x", "metadata"],
  ["?metadata.%20=x", "metadata. "],
  ["?type=exe", "type"],
  ["?status=gone", "status"],
])("the list of documents with %s is refused", async (query, param) => {
  const { status, body } = await library.call("GET", `/documents${query}`);
  expect([status, body.error.param]).toEqual([400, param]);
});

test("documents of other organizations and of deleted collections are not listed", async () => {
  const other = await library.platform.organization("Others");
  const { body } = await library.as(other.api_key).call("GET", "/documents");
  expect(body).toMatchObject({ data: [], total: 0 });
  await library.call("DELETE", "/collections/letters");
  expect(await names("?metadata.kind=lease")).toEqual(["lease"]);
});

test("a document is listed only for its readers", async () => {
  const readers = [{ external_user: "ann" }];
  ids["secret"] = (await library.push("contracts", { text: "Secret.", readers, tags: ["secret"] })).body.id;
  expect(await names("?tags=secret")).toEqual(["secret"]);
  expect(await names("?tags=secret&user=ann")).toEqual(["secret"]);
  expect(await names("?tags=secret&user=bob")).toEqual([]);
});
