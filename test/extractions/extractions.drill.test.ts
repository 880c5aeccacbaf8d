import { beforeAll, describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { readable, realFile, unreadable } from "../files/index.ts";
import { expectTruth } from "../files/expectTruth.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary, type Library } from "../knowledge/library.ts";

let library: Library;
let call: Library["call"];
/** The answers to the requests, by file name. */
const answers = new Map<string, Awaited<ReturnType<Library["extract"]>>>();
beforeAll(async () => {
  library = await openLibrary();
  call = library.call;
  await Promise.all(
    [...readable, ...unreadable].map(async ({ name }) =>
      answers.set(name, await library.extract({ content: realFile(name), name })),
    ),
  );
});
const read = (id: string) => call("GET", `${library.extractions}/${id}`);
const remove = (id: string) => call("DELETE", `${library.extractions}/${id}`);
/** The units of usage of each completion. */
const chargedUnits = async (id: string) =>
  (await library.platform.resources.log.read(streamName("extraction", id)))
    .filter(({ type }) => type === "ExtractionCompleted")
    .map(({ data }: any) => data.units);

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const DAY_MS = 24 * 60 * 60 * 1000;

describe("extracting the file", () => {
  test.each(readable)("$name returns its Markdown", async (truth) => {
    const content = realFile(truth.name);
    const { status, body } = answers.get(truth.name)!;
    expect(status).toBe(202);
    const pending = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: truth.name,
      mime_type: truth.mime_type,
      size_bytes: content.length,
      created_at: INSTANT,
      expires_at: INSTANT,
    };
    expect(body).toEqual({ ...pending, status: "pending", ...(body.chunk_count === 0 && { chunk_count: 0 }) });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(DAY_MS);

    const { markdown, chunk_count, ...record } = await library.extracted(body.id);
    const { created_at, expires_at } = body;
    const pages = truth.page_count === null ? {} : { page_count: truth.page_count };
    const warned = truth.warning && { warnings: [expect.objectContaining(truth.warning)] };
    const ready = { ...pending, id: body.id, status: "ready", created_at, expires_at, ...pages, ...warned };
    expect(record).toEqual(ready);
    expect(chunk_count).toBeGreaterThanOrEqual(truth.page_count ?? 1);
    expectTruth(markdown, truth);
    expect(await chargedUnits(body.id)).toEqual([truth.page_count ?? Math.ceil([...markdown].length / 3_000)]);
  });

  test.each(unreadable)("$name is accepted and fails with a reason", async ({ name, message }) => {
    const content = realFile(name);
    const { status, body } = answers.get(name)!;
    expect(status).toBe(202);
    const failed = await library.extracted(body.id);
    expect(failed).toMatchObject({
      status: "failed",
      name,
      size_bytes: content.length,
      error: expect.stringMatching(message),
    });
    expect(failed).not.toHaveProperty("markdown");
    expect(await chargedUnits(body.id)).toEqual([]);
  });
});

describe("extracting identical bytes", () => {
  test("returns the existing extraction", async () => {
    const sent = { content: "Extracted once.", name: "once.md" };
    const { id } = (await library.extract(sent)).body;
    const ready = await library.extracted(id);
    const again = await library.extract({ ...sent, name: "twice.md" });
    expect([again.status, again.body]).toEqual([200, ready]);
  });

  test("under another name and type returns the same extraction", async () => {
    const content = "a,b\n1,2\n";
    const csv = await library.extract({ content, name: "a.csv" });
    const table = await library.extracted(csv.body.id);
    const text = await library.extract({ content, name: "a.txt" });
    expect([csv.status, text.status, text.body]).toEqual([202, 200, table]);
    expect(table.markdown).toContain("|");
  });

  test("eight times at once creates one extraction", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => library.extract({ content: "At once.", name: "a.md" })),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 202]);
  });

  test("again after a failure tries again", async () => {
    const sent = { content: realFile("blank.pdf"), name: "again.pdf" };
    const first = (await library.extract(sent)).body;
    await library.extracted(first.id);
    const second = await library.extract(sent);
    expect(second.status).toBe(202);
    expect((await library.extracted(second.body.id)).status).toBe("failed");
  });

  test("of a deleted extraction creates a new one", async () => {
    const sent = { content: "Deleted, then sent again.", name: "a.md" };
    const { id } = (await library.extract(sent)).body;
    await library.extracted(id);
    expect((await remove(id)).status).toBe(204);
    const again = await library.extract(sent);
    expect([again.status, again.body.id === id]).toEqual([202, false]);
    expect((await library.extracted(again.body.id)).markdown.trim()).toBe("Deleted, then sent again.");
  });

  test("under the same idempotency key returns the same answer", async () => {
    const sent = { content: "Under a key.", name: "a.md", headers: { "idempotency-key": "extract-1" } };
    const first = await library.extract(sent);
    const again = await library.extract(sent);
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
    expectRefusal(await library.extract({ ...sent, content: "Else." }), 422, "idempotency_key_reused");
  });
});

describe("an extraction", () => {
  test("does not exist once it is deleted", async () => {
    const { id } = (await library.extract({ content: "Soon gone.", name: "a.md" })).body;
    await library.extracted(id);
    const { status, text } = await remove(id);
    expect([status, text]).toEqual([204, ""]);
    expectRefusal(await read(id), 404, "extraction_not_found");
    expectRefusal(await remove(id), 404, "extraction_not_found");
  });

  test("can be deleted before it is processed", async () => {
    const { id } = (await library.extract({ content: realFile("guide-tagged.pdf"), name: "early.pdf" })).body;
    expect((await remove(id)).status).toBe(204);
    expectRefusal(await read(id), 404, "extraction_not_found");
  });

  test.each(["nonsense", "01900000-0000-7000-8000-000000000000", "%00"])(
    "with the id %s does not exist",
    async (id) => {
      expectRefusal(await read(id), 404, "extraction_not_found");
      expectRefusal(await remove(id), 404, "extraction_not_found");
    },
  );

  test("is not found by search", async () => {
    await library.extracted((await library.extract({ content: "Narwhal.", name: "n.md" })).body.id);
    expect((await library.search({ query: "narwhal" })).body.results).toEqual([]);
  });
});

describe("an extraction form", () => {
  const END = "--b--\r\n";
  const part = (disposition: string, content = "x") =>
    `--b\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
  const FILE = part('name="file"; filename="a.txt"', "words");
  const send = (body: string, type = "multipart/form-data; boundary=b") =>
    call("POST", library.extractions, body, { "content-type": type });

  test("may have its file in a field of any name, after other fields", async () => {
    const { status, body } = await send(
      part('name="note"', "ignored") + part('name="upload"; filename="b.txt"', "any name") + END,
    );
    expect([status, body.name, body.size_bytes]).toEqual([202, "b.txt", 8]);
  });

  test.each([
    ["no file", "missing_file", part('name="file"') + END],
    ["an empty body", "missing_file", ""],
    ["two files", "too_many_files", FILE + FILE + END],
    ["no closing boundary", "invalid_body", FILE],
    ["an empty file", "empty_document", part('name="file"; filename="a.txt"', "") + END],
  ])("with %s is refused with %s", async (_what, code, body) => expectRefusal(await send(body), 400, code));

  test("sent as JSON is refused", async () => expectRefusal(await send("{}", "application/json"), 400, "invalid_body"));
});
