import { describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { expectRefusal } from "../hostile/target.ts";
import { realFile } from "../files/index.ts";
import { openLibrary } from "./library.ts";

const library = await openLibrary();
const call = library.call;
const shelf = await library.collect("Shelf");

const reprocess = (id: string, query = "") => call("POST", `/documents/${id}/reprocess${query}`);
const document = async (id: string) => (await call("GET", `/documents/${id}`)).body;
const ready = (id: string, since: string) =>
  library.until(`/documents/${id}`, ({ status, indexed_at }) => status === "ready" && indexed_at > since);
/** The units of usage of each indexing. */
const chargedUnits = async (id: string) => {
  const events = await library.platform.resources.log.read(streamName("document", id));
  return events.filter(({ type }) => type === "DocumentIndexed").map(({ data }: any) => data.units);
};
const hits = async (id: string, query: string) => {
  const { status, body } = await library.search({ query, document_ids: [id], limit: 100 });
  expect(status).toBe(200);
  return body.results.flatMap(({ passages }: any) => passages.map(({ score: _, ...passage }: any) => passage));
};

describe("reprocessing a document", () => {
  test("indexes the same passages again, and only reextract counts as usage", async () => {
    const first = await library.keep(shelf, { content: realFile("guide.pdf"), name: "guide.pdf" });
    const before = await hits(first.id, "lamp");
    expect(before.length).toBeGreaterThan(1);
    expect(await chargedUnits(first.id)).toEqual([3]);

    const accepted = await reprocess(first.id);
    expect([accepted.status, accepted.body.id]).toEqual([202, first.id]);
    const second = await ready(first.id, first.indexed_at);
    expect(second).toEqual({ ...first, indexed_at: second.indexed_at, updated_at: second.updated_at });
    expect(await hits(first.id, "lamp")).toEqual(before);
    expect(await chargedUnits(first.id)).toEqual([3, 0]);

    expect((await reprocess(first.id, "?reextract=true")).status).toBe(202);
    const third = await ready(first.id, second.indexed_at);
    expect([third.page_count, third.chunk_count]).toEqual([first.page_count, first.chunk_count]);
    expect(await hits(first.id, "lamp")).toEqual(before);
    expect(await chargedUnits(first.id)).toEqual([3, 0, 3]);
  });

  test("of pushed text indexes it again, because there is no file to read", async () => {
    const { body } = await library.push(shelf, { text: "The eel lives under the bridge." });
    const first = await library.ended(body.id);
    expectRefusal(await reprocess(first.id, "?reextract=true"), 404, "no_stored_file");
    expect((await reprocess(first.id)).status).toBe(202);
    await ready(first.id, first.indexed_at);
    expect(await hits(first.id, "eel")).toHaveLength(1);
  });

  test("that failed reads it again", async () => {
    const failed = await library.keep(shelf, { content: realFile("blank.pdf"), name: "blank.pdf" });
    const { status, body } = await reprocess(failed.id);
    expect([status, body.id]).toEqual([202, failed.id]);
    expect(await library.ended(failed.id)).toMatchObject({ status: "failed", error: failed.error });
    expect(await chargedUnits(failed.id)).toEqual([]);
  });
});

describe("while the search index does not answer,", () => {
  test("a new document stays in processing, without a text, reprocessing or search results", async () => {
    library.index.set("refusing");
    const { body } = await library.upload(shelf, { content: "An otter in the millrace.", name: "otter.md" });
    const waiting = await library.until(`/documents/${body.id}`, ({ status }) => status === "processing");
    expect(waiting).toMatchObject({ chunk_count: 0 });
    expect(waiting).not.toHaveProperty("indexed_at");
    expectRefusal(await call("GET", `/documents/${body.id}/text`), 400, "not_ready");
    expectRefusal(await reprocess(body.id), 400, "already_processing");
    expectRefusal(await reprocess(body.id, "?reextract=true"), 400, "already_processing");
    expect((await library.upload(shelf, { content: "An otter in the millrace." })).status).toBe(200);
    library.index.set("open");
    expect(await library.ended(body.id)).toMatchObject({ status: "ready", chunk_count: 1 });
    expect(await hits(body.id, "otter")).toHaveLength(1);
  });

  test("a document being reprocessed keeps its old passages in search", async () => {
    const first = await library.keep(shelf, { content: "# Weir\n\nThe beaver builds at night.", name: "beaver.md" });
    library.index.set("refusing");
    expect((await reprocess(first.id)).status).toBe(202);
    const meanwhile = await library.until(`/documents/${first.id}`, ({ status }) => status === "processing");
    expect([meanwhile.chunk_count, meanwhile.indexed_at]).toEqual([first.chunk_count, first.indexed_at]);
    expectRefusal(await call("GET", `/documents/${first.id}/text`), 400, "not_ready");
    expectRefusal(await reprocess(first.id), 400, "already_processing");
    library.index.set("open");
    const done = await ready(first.id, first.indexed_at);
    expect(done.chunk_count).toBe(first.chunk_count);
    expect(await hits(first.id, "beaver")).toHaveLength(1);
  });

  test("a deleted document is gone and stays gone", async () => {
    const { id } = await library.keep(shelf, { content: "A stork on the chimney.", name: "stork.md" });
    library.index.set("refusing");
    expect((await call("DELETE", `/documents/${id}`)).status).toBe(204);
    expect((await call("GET", `/documents/${id}`)).status).toBe(404);
    library.index.set("open");
    await library.keep(shelf, { content: "Something after it.", name: "after.md" });
    expect((await library.search({ query: "stork" })).body.results).toEqual([]);
  });
});

test("reprocessing with reextract=false does not read the file again", async () => {
  const { id } = await library.keep(shelf, { content: "Read once.", name: "once.md" });
  const first = await document(id);
  expect((await reprocess(id, "?reextract=false")).status).toBe(202);
  await ready(id, first.indexed_at);
  expect(await chargedUnits(id)).toEqual([1, 0]);
});
