import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
let call: Library["call"];
let shelf: string;
beforeAll(async () => {
  library = await openLibrary();
  call = library.call;
  shelf = await library.collect("Pushed");
});
const push = (body: object, headers?: Record<string, string>) => library.push(shelf, body, headers);
const kept = async (body: object) => library.ended((await push(body)).body.id);
const textOf = async (id: string) => (await call("GET", `/documents/${id}/text`)).text;
const total = async () => (await call("GET", `/collections/${shelf}/documents`)).body.total as number;

describe("pushed text", () => {
  test("is a document of Markdown", async () => {
    const text = "# Bees\n\nThe hive stands behind the **barn**.";
    const { status, body } = await push({ text, name: "bees", tags: ["farm"], format: "markdown" });
    expect([status, body.name, body.mime_type, body.tags, body.source, body.chunk_count]).toEqual([
      202,
      "bees",
      "text/markdown",
      ["farm"],
      "api",
      0,
    ]);
    expect(body.size_bytes).toBe(Buffer.byteLength(text));
    const ready = await library.ended(body.id);
    expect(ready).toMatchObject({ status: "ready", chunk_count: 1 });
    expect(ready).not.toHaveProperty("page_count");
    expect((await textOf(body.id)).trim()).toBe(text);
    const [found] = (await library.search({ query: "hive" })).body.results;
    expect(found.passages[0]).toMatchObject({ seq: 0, section: "Bees", reference: "Bees" });
    expect(found.passages[0]).not.toHaveProperty("page");
  });

  test("that is plain is not read as Markdown", async () => {
    const { id, mime_type } = await kept({ text: "# no heading\n* no * list", format: "text" });
    expect(mime_type).toBe("text/plain");
    const [found] = (await library.search({ query: "heading", document_ids: [id] })).body.results;
    expect(found.passages[0]).not.toHaveProperty("section");
    expect(found.passages[0].reference).toBe("excerpt 1");
  });

  test("has a name though none is given", async () => {
    expect((await push({ text: "No name at all." })).body.name).toMatch(/\S/);
  });

  test("has no file that was stored", async () => {
    const { id } = await kept({ text: "Only words." });
    expectRefusal(await call("GET", `/documents/${id}/content`), 404, "no_stored_file");
  });

  test.each([
    ["no text", {}, "empty_document"],
    ["an empty text", { text: "" }, "empty_document"],
    ["nothing but spaces", { text: " \n\t " }, "empty_document"],
  ])("of %s is refused", async (_what, body, code) => {
    const before = await total();
    expectRefusal(await push(body), 400, code);
    expect(await total()).toBe(before);
  });

  test.each([
    ["a number", { text: 7 }],
    ["tags that are no list", { text: "x", tags: "a" }],
    ["a format of its own", { text: "x", format: "html" }],
    ["an external_id that is no string", { text: "x", external_id: {} }],
  ])("with %s is refused", async (_what, body) => {
    const { status, body: answer } = await push(body);
    expect([status, answer.error.type]).toEqual([400, "invalid_request_error"]);
  });

  test("of 16 MiB is taken as a request, and a longer one is told of the way by a file", async () => {
    const ofBytes = (bytes: number) => {
      const around = JSON.stringify({ text: "", tags: "no list" }).length;
      return { text: "x".repeat(bytes - around), tags: "no list" };
    };
    const most = 16 * 1024 * 1024;
    expect((await push(ofBytes(most))).status).toBe(400);
    const longer = await push(ofBytes(most + 1));
    expectRefusal(longer, 413, "request_too_large");
    expect(longer.body.error.message).toContain("uploaded as a file");
  });

  test("that is the same is one document", async () => {
    const first = await kept({ text: "Said twice." });
    const again = await push({ text: "Said twice.", name: "other", tags: ["x"] });
    expect([again.status, again.body]).toEqual([200, first]);
  });
});

describe("an external_id", () => {
  test("names one document: new text replaces the old", async () => {
    const before = await total();
    const first = await kept({
      text: "The ferry leaves at eight.",
      name: "ferry",
      external_id: "crm/1",
      tags: ["old"],
    });
    const second = await push({
      text: "The ferry leaves at nine.",
      name: "ferry 2",
      external_id: "crm/1",
      tags: ["new"],
    });
    expect([second.status, second.body.id]).toEqual([202, first.id]);
    const ready = await library.ended(first.id);
    expect(ready).toMatchObject({ status: "ready", name: "ferry 2", tags: ["new"], created_at: first.created_at });
    expect((await textOf(first.id)).trim()).toBe("The ferry leaves at nine.");
    const { results } = (await library.search({ query: "ferry leaves" })).body;
    expect(results.map((one: any) => [one.document.name, one.passages.map((hit: any) => hit.content.trim())])).toEqual([
      ["ferry 2", ["The ferry leaves at nine."]],
    ]);
    expect(await total()).toBe(before + 1);
  });

  test("with the same text again changes nothing", async () => {
    const first = await kept({ text: "Unchanged.", external_id: "crm/2" });
    const again = await push({ text: "Unchanged.", external_id: "crm/2" });
    expect([again.status, again.body]).toEqual([200, first]);
  });

  test("is another in another collection and in another organization", async () => {
    const other = await library.collect("Pushed too");
    const stranger = library.as((await library.platform.organization("Strangers")).api_key);
    const theirs = await stranger.collect("Pushed");
    const ids = await Promise.all([
      push({ text: "Mine.", external_id: "same" }),
      library.push(other, { text: "Mine.", external_id: "same" }),
      stranger.push(theirs, { text: "Mine.", external_id: "same" }),
    ]);
    expect(ids.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(ids.map(({ body }) => body.id)).size).toBe(3);
  });

  test("of many who push at once is one document with the text of one of them", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => push({ text: `Version ${n} of the tide table.`, external_id: "race" })),
    );
    expect(answers.map(({ status }) => status).every((status) => status === 202)).toBe(true);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const { id } = answers[0]!.body;
    const ready = await library.until(`/documents/${id}`, ({ status }) => status === "ready");
    const text = (await textOf(id)).trim();
    expect(text).toMatch(/^Version [0-7] of the tide table\.$/);
    const { results } = (await library.search({ query: "tide table" })).body;
    expect(results.map((one: any) => [one.document.id, one.passages.length])).toEqual([[id, 1]]);
    expect(ready.size_bytes).toBe(Buffer.byteLength(text));
  });

  test("that is replaced by the same text many times at once is kept once", async () => {
    const { id } = await kept({ text: "The ferry leaves at nine.", external_id: "twice" });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => push({ text: "The ferry leaves at ten.", external_id: "twice" })),
    );
    expect(answers.map(({ status }) => status).every((status) => status === 200 || status === 202)).toBe(true);
    expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([id]));
    await library.until(`/documents/${id}`, ({ status }) => status === "ready");
    expect((await textOf(id)).trim()).toBe("The ferry leaves at ten.");
    const { DATA_DIR } = library.platform.settings;
    const folder = join(DATA_DIR, "blobs", library.credentials.organization_id, `document-${id}`);
    // what was sent, its Markdown and its passages
    await expect.poll(async () => (await readdir(folder)).length, { timeout: 10_000 }).toBe(3);
  });

  test("is free again once its document is deleted", async () => {
    const first = await kept({ text: "To be deleted.", external_id: "crm/3" });
    await call("DELETE", `/documents/${first.id}`);
    const again = await push({ text: "To be deleted.", external_id: "crm/3" });
    expect([again.status, again.body.id === first.id]).toEqual([202, false]);
  });
});

test("a push is made once under an idempotency key", async () => {
  const key = { "idempotency-key": "push-1" };
  const first = await push({ text: "Pushed under a key." }, key);
  const again = await push({ text: "Pushed under a key." }, key);
  expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
  expectRefusal(await push({ text: "Another." }, key), 422, "idempotency_key_reused");
});
