import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary } from "./library.ts";

const library = await openLibrary();
const call = library.call;
const shelf = await library.collect("Pushed");
const push = (body: object, headers?: Record<string, string>) => library.push(shelf, body, headers);
const kept = async (body: object) => library.ended((await push(body)).body.id);
const textOf = async (id: string) => (await call("GET", `/documents/${id}/text`)).text;
const total = async () => (await call("GET", `/collections/${shelf}/documents`)).body.total as number;

describe("pushed text", () => {
  test("becomes a Markdown document", async () => {
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

  test("in plain format is not parsed as Markdown", async () => {
    const { id, mime_type } = await kept({ text: "# no heading\n* no * list", format: "text" });
    expect(mime_type).toBe("text/plain");
    const [found] = (await library.search({ query: "heading", document_ids: [id] })).body.results;
    expect(found.passages[0]).not.toHaveProperty("section");
    expect(found.passages[0].reference).toBe("excerpt 1");
  });

  test("gets a default name", async () => {
    expect((await push({ text: "No name at all." })).body.name).toMatch(/\S/);
  });

  test("has no stored file", async () => {
    const { id } = await kept({ text: "Only words." });
    expectRefusal(await call("GET", `/documents/${id}/content`), 404, "no_stored_file");
  });

  test.each([
    ["no text", {}, "empty_document"],
    ["an empty text", { text: "" }, "empty_document"],
    ["only whitespace", { text: " \n\t " }, "empty_document"],
  ])("with %s is refused as empty", async (_what, body, code) => {
    const before = await total();
    expectRefusal(await push(body), 400, code);
    expect(await total()).toBe(before);
  });

  test.each([
    ["a number as its text", { text: 7 }],
    ["tags that are not a list", { text: "x", tags: "a" }],
    ["an unknown format", { text: "x", format: "html" }],
    ["an external_id that is not a string", { text: "x", external_id: {} }],
    ["an empty external_id", { text: "x", external_id: "" }],
  ])("with %s is refused", async (_what, body) => {
    const { status, body: answer } = await push(body);
    expect([status, answer.error.type]).toEqual([400, "invalid_request_error"]);
  });

  test("may have 16 MiB, and a longer text is refused with the advice to upload a file", async () => {
    const ofBytes = (bytes: number) => {
      const around = JSON.stringify({ text: "", tags: "no list" }).length;
      return { text: "x".repeat(bytes - around), tags: "no list" };
    };
    const limit = 16 * 1024 * 1024;
    expect((await push(ofBytes(limit))).status).toBe(400);
    const longer = await push(ofBytes(limit + 1));
    expectRefusal(longer, 413, "request_too_large");
    expect(longer.body.error.message).toContain("upload a longer text as a file");
  });

  test("of 15 MB is stored", async () => {
    const { status, body } = await push({ text: "word ".repeat(3_000_000) });
    expect([status, body.size_bytes]).toEqual([202, 15_000_000]);
  });

  test("is replaced by a file with the same bytes, whose original is kept", async () => {
    const text = "First pushed, then uploaded.";
    const pushed = await kept({ text, name: "pushed", tags: ["kept"] });
    const file = { content: text, name: "uploaded.md", type: "text/markdown" };
    const before = await total();
    const uploaded = await library.upload(shelf, file);
    expect([uploaded.status, uploaded.body.id, uploaded.body.status]).toEqual([202, pushed.id, "pending"]);
    expect(await library.ended(pushed.id)).toMatchObject({ status: "ready", name: "uploaded.md", tags: ["kept"] });
    expect((await call("GET", `/documents/${pushed.id}/content`)).text).toBe(text);
    expect((await library.search({ query: "uploaded", document_ids: [pushed.id] })).body.results).toHaveLength(1);
    // now the collection has both
    expect((await library.upload(shelf, file)).status).toBe(200);
    expect((await push({ text })).body.id).toBe(pushed.id);
    expect((await call("GET", `/documents/${pushed.id}/content`)).text).toBe(text);
    expect(await total()).toBe(before);
  });

  test("pushed twice is one document", async () => {
    const first = await kept({ text: "Said twice.", tags: ["x"] });
    const again = await push({ text: "Said twice.", tags: ["x"] });
    expect([again.status, again.body]).toEqual([202, first]);
  });
});

describe("an external_id", () => {
  test("identifies one document, whose text is replaced by a new push", async () => {
    const before = await total();
    const external_id = "crm/1\u0000";
    const first = await kept({ text: "The ferry leaves at eight.", name: "ferry", external_id, tags: ["old"] });
    expect(first.external_id).toBe(external_id);
    const replacement = { text: "The ferry leaves at nine.", name: "ferry 2", external_id, tags: ["new"] };
    const send = () => push(replacement, { "idempotency-key": "replace-1" });
    for (const { status, body } of [await send(), await send()]) expect([status, body.id]).toEqual([202, first.id]);
    const ready = await library.ended(first.id);
    expect(ready).toMatchObject({ status: "ready", name: "ferry 2", tags: ["new"], created_at: first.created_at });
    expect((await textOf(first.id)).trim()).toBe("The ferry leaves at nine.");
    const { results } = (await library.search({ query: "ferry leaves" })).body;
    expect(results.map((one: any) => [one.document.name, one.passages.map((hit: any) => hit.content.trim())])).toEqual([
      ["ferry 2", ["The ferry leaves at nine."]],
    ]);
    expect(await total()).toBe(before + 1);
  });

  test("pushed again with the same text changes nothing, and another one identifies another document", async () => {
    const first = await kept({ text: "Unchanged.", external_id: "crm/2" });
    const again = await push({ text: "Unchanged.", external_id: "crm/2" });
    expect([again.status, again.body]).toEqual([202, first]);
    const other = await push({ text: "Unchanged.", external_id: "crm/other" });
    expect([other.status, other.body.id === first.id]).toEqual([202, false]);
  });

  test("finds its document in the list of its collection", async () => {
    const { id } = await kept({ text: "To be found.", external_id: "crm/a b&c", tags: ["x"] });
    const find = async (query: string) => {
      const { body } = await call("GET", `/collections/${shelf}/documents?${query}`);
      return [body.total, body.data.map((one: any) => one.id)];
    };
    expect(await find(`external_id=${encodeURIComponent("crm/a b&c")}`)).toEqual([1, [id]]);
    expect(await find(`external_id=${encodeURIComponent("crm/a b&c")}&status=failed`)).toEqual([0, []]);
    expect(await find("external_id=crm")).toEqual([0, []]);
  });

  test.each(["crm/tagged", undefined])(
    "tags that change with the same text are applied, external_id %s",
    async (id) => {
      const body = { text: `Tagged ${id}.`, external_id: id, tags: ["old"] };
      const first = await kept(body);
      const again = await push({ ...body, tags: ["new", "newer"] });
      expect([again.status, again.body.id, again.body.tags]).toEqual([202, first.id, ["new", "newer"]]);
      expect((await push({ ...body, tags: undefined })).body.tags).toEqual(["new", "newer"]);
      expect((await push({ ...body, tags: [] })).body.tags).toEqual([]);
    },
  );

  test.each(["crm/named", undefined])(
    "a name that changes with the same text is applied, external_id %s",
    async (id) => {
      const body = { text: `Named ${id}.`, external_id: id, name: "old" };
      const first = await kept(body);
      const again = await push({ ...body, name: "new", metadata: { year: 2024 } });
      expect([again.status, again.body.id, again.body.name]).toEqual([202, first.id, "new"]);
      expect(again.body.metadata).toEqual({ year: 2024 });
      expect((await push({ ...body, name: undefined })).body.name).toBe("new");
    },
  );

  test.each(["crm/format", undefined])("the same text in another format is read again, external_id %s", async (id) => {
    const body = { text: `# Format ${id}\n\nThe words of a heading.`, external_id: id, tags: ["kept"] };
    const first = await kept(body);
    const again = await push({ ...body, format: "text" });
    expect([again.status, again.body.id, again.body.mime_type]).toEqual([202, first.id, "text/plain"]);
    const ready = await library.ended(first.id);
    expect(ready).toMatchObject({ status: "ready", mime_type: "text/plain", tags: ["kept"] });
    const [found] = (await library.search({ query: "heading", document_ids: [first.id] })).body.results;
    expect(found.passages[0]).not.toHaveProperty("section");
    expect((await push({ ...body, format: "text" })).body).toEqual(ready);
    await library.ended((await push(body)).body.id);
    expect((await push(body)).body.mime_type).toBe("text/markdown");
  });

  test("identifies different documents in different collections and organizations", async () => {
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

  test("in parallel pushes is one document with the text of one of them", async () => {
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

  test("in parallel replacements by the same text stores that text once", async () => {
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
    // the text as it was sent, its Markdown and its passages; of the version before, Markdown and passages
    await expect.poll(async () => (await readdir(folder)).length).toBe(3 + 2);
  });

  test("can be reused for a new document once its document is deleted", async () => {
    const first = await kept({ text: "To be deleted.", external_id: "crm/3" });
    await call("DELETE", `/documents/${first.id}`);
    const again = await push({ text: "To be deleted.", external_id: "crm/3" });
    expect([again.status, again.body.id === first.id]).toEqual([202, false]);
  });
});

test("a push happens once per idempotency key", async () => {
  const key = { "idempotency-key": "push-1" };
  const first = await push({ text: "Pushed under a key." }, key);
  const again = await push({ text: "Pushed under a key." }, key);
  expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
  expectRefusal(await push({ text: "Another." }, key), 422, "idempotency_key_reused");
});
