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
  test("under another name and type returns the existing extraction", async () => {
    const content = "a,b\n1,2\n";
    const csv = await library.extract({ content, name: "a.csv" });
    const table = await library.extracted(csv.body.id);
    const text = await library.extract({ content, name: "a.txt" });
    expect([csv.status, text.status, text.body]).toEqual([202, 200, table]);
    expect(table.markdown).toContain("|");
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
});

describe("an extraction", () => {
  test("can be deleted before it is processed", async () => {
    const { id } = (await library.extract({ content: realFile("guide-tagged.pdf"), name: "early.pdf" })).body;
    expect((await remove(id)).status).toBe(204);
    expectRefusal(await read(id), 404, "extraction_not_found");
  });

  test("is not found by search", async () => {
    await library.extracted((await library.extract({ content: "Narwhal.", name: "n.md" })).body.id);
    expect((await library.search({ query: "narwhal" })).body.results).toEqual([]);
  });
});
