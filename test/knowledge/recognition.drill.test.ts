import { beforeAll, describe, expect, test } from "vitest";
import { openPageBudget } from "#infra/postgres/pageBudget.ts";
import { newId, streamName } from "#events/ids.ts";
import { realFile } from "../files/index.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { notice, scanOf } from "../reading/scans.ts";
import { openLibrary, type Library } from "./library.ts";

/* Pictures and scanned pages become text wherever files are read. */

const library = await openLibrary();
const shelf = await library.collect("Scans");

const READ = {
  code: "read_from_picture",
  pages: [1],
  confidence: [expect.any(Number)],
  message: expect.stringMatching(/^Page 1 has text that was read from a picture, \d+ % sure\.$/),
};

test("a picture becomes a searchable document, with the confidence of its page", async () => {
  const { keep, search } = library;
  const kept = await keep(shelf, { content: realFile("notice.png"), name: "notice.png" });
  expect(kept).toMatchObject({ status: "ready", mime_type: "image/png", warnings: [READ] });
  expect(kept).not.toHaveProperty("page_count");
  const { body } = await search({ query: "When does the pilot boat leave the quay?", collections: [shelf] });
  expect(body.results[0]).toMatchObject({
    document: { id: kept.id, warnings: [READ] },
    passages: [{ reference: "excerpt 1" }],
  });
  expect(body.results[0].passages[0].content).toContain("north quay at noon");
});

/** The TIFF with its only page twice: the second directory names the same strips. */
function doubled(tiff: Buffer): Buffer<ArrayBuffer> {
  const first = tiff.readUInt32LE(4);
  const end = first + 2 + tiff.readUInt16LE(first) * 12;
  const second = Buffer.concat([tiff.subarray(first, end), Buffer.alloc(4)]);
  const twice = Buffer.concat([tiff, Buffer.alloc(tiff.length % 2), second]);
  twice.writeUInt32LE(twice.length - second.length, end);
  return twice;
}

test("a picture of several pages has no page_count and its passages no page, as in the spec", async () => {
  const kept = await library.keep(shelf, { content: doubled(realFile("notice.tiff")), name: "fax.tiff" });
  expect(kept).toMatchObject({ status: "ready", warnings: [{ code: "read_from_picture", pages: [1, 2] }] });
  expect(kept).not.toHaveProperty("page_count");
  const { body } = await library.search({ query: "pilot boat leaves the quay", document_ids: [kept.id] });
  const { passages } = body.results[0];
  expect(passages.filter((passage: object) => "page" in passage)).toEqual([]);
  expect(passages[0].reference).toBe("excerpt 1");
});

test("an extraction reads the scanned page of a file that has text as well", async () => {
  const { extract, extracted, call, extractions } = library;
  const { body } = await extract({ content: scanOf(["typed", notice, "blank"]), name: "part.pdf" });
  expect(await extracted(body.id)).toMatchObject({
    status: "ready",
    page_count: 3,
    warnings: [
      { ...READ, pages: [2], message: expect.any(String) },
      { code: "page_without_text", pages: [3] },
    ],
  });
  const found = await call("GET", `${extractions}/${body.id}`);
  expect(found.body.markdown).toMatch(/eel lives under the bridge[^]*\| Ferry \| 340.00 \| June 9 \|/);
});

test("a picture without text fails with a reason", async () => {
  const dot = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  expect(await library.keep(shelf, { content: dot, name: "dot.png" })).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/text recognition \(OCR\) found none/),
  });
});

test("text that is uploaded after scans is ready before them", async () => {
  const { call, ended, upload } = library;
  const pageCounts = [1, 2, 3];
  const scans = await Promise.all(
    pageCounts.map((pages) =>
      upload(shelf, { content: scanOf(Array.from({ length: pages }, () => notice)), name: `${pages}.pdf` }),
    ),
  );
  const { body: text } = await upload(shelf, { content: "# Tides\n\nHigh water is at noon.", name: "tides.md" });
  expect(await ended(text.id)).toMatchObject({ status: "ready" });
  const waiting = await Promise.all(scans.map(({ body }) => call("GET", `/documents/${body.id}`)));
  expect(waiting.some(({ body }) => body.status === "processing")).toBe(true);
  for (const [n, { body }] of scans.entries())
    expect(await ended(body.id)).toMatchObject({ status: "ready", page_count: pageCounts[n] });
});

test("while scanned pages are read, the document, its list and the extraction say how many are", async () => {
  const { call, ended, extract, extracted, extractions, until, upload } = library;
  const content = scanOf(Array.from({ length: 8 }, () => notice));
  const { body: book } = await upload(shelf, { content, name: "book.pdf" });
  const { body: copy } = await extract({ content, name: "book.pdf" });
  const shows = ({ progress, status }: any) => progress !== undefined || status === "ready";
  const first = await until(`/documents/${book.id}`, shows);
  expect(first).toMatchObject({ status: "processing", progress: { pages_total: 8 } });
  const { body: list } = await call("GET", `/collections/${shelf}/documents?status=processing`);
  expect(list.data.find(({ id }: any) => id === book.id)).toMatchObject({ progress: { pages_total: 8 } });
  const later = await until(
    `/documents/${book.id}`,
    ({ progress, status }) => progress?.pages_read > 0 || status === "ready",
  );
  expect(later.progress.pages_read).toBeLessThanOrEqual(8);
  expect(await ended(book.id)).not.toHaveProperty("progress");
  expect(await until(`${extractions}/${copy.id}`, shows)).toMatchObject({ progress: { pages_total: 8 } });
  expect(await extracted(copy.id)).not.toHaveProperty("progress");
});

describe("the languages of an organization", () => {
  const readIn = async (id: string) => {
    const events = await library.platform.resources.log.read(streamName("document", id));
    return events.filter(({ type }) => type === "DocumentRead").map(({ data }: any) => data.ocr_languages);
  };
  const reprocess = (id: string, query: string) => library.call("POST", `/documents/${id}/reprocess?${query}`);
  /** Reads a document again. */
  const reread = async ({ id, indexed_at }: any, query: string) => {
    expect((await reprocess(id, query)).status).toBe(202);
    return library.until(`/documents/${id}`, (body) => body.status === "ready" && body.indexed_at > indexed_at);
  };
  let owner: ReturnType<typeof clientOf>;
  const set = (languages: unknown) => owner("PUT", "/ocr", { languages });
  beforeAll(async () => {
    owner = clientOf({ chat: `${library.platform.url}/api` }, await library.signIn());
  });

  test("are those of the deployment until it sets its own of the installed ones", async () => {
    const standard = { default_languages: ["eng", "deu"], installed: ["deu", "eng"], available: true };
    expect((await owner("GET", "/ocr")).body).toEqual({ languages: null, ...standard });
    expect((await set(["deu", "eng", "deu"])).body).toEqual({ languages: ["deu", "eng"], ...standard });
    for (const languages of [["deu", "xyz"], [], ["deu", ""], "deu", [1], undefined]) {
      const refused = await set(languages);
      expectRefusal(
        refused,
        400,
        undefined,
        Array.isArray(languages) && languages[0] === 1 ? "languages[0]" : "languages",
      );
    }
    expect((await set(["xyz"])).body.error.message).toBe('languages: "xyz" is not installed. Installed are deu, eng.');
    expect((await owner("GET", "/ocr")).body.languages).toEqual(["deu", "eng"]);
    expect((await set(null)).body).toEqual({ languages: null, ...standard });
  });

  test("are kept with each text, which is read again in them or in others", async () => {
    await set(["deu"]);
    const kept = await library.keep(shelf, { content: scanOf([notice, "typed"]), name: "german.pdf" });
    await set(null);
    const again = await reread(kept, "reextract=true");
    const cut = await reread(again, "reextract=false");
    await reread(cut, "reextract=true&ocr_languages=eng,%20deu");
    expect(await readIn(kept.id)).toEqual([["deu"], ["deu"], ["deu"], ["eng", "deu"]]);
    for (const query of ["reextract=true&ocr_languages=xyz", "reextract=true&ocr_languages=", "ocr_languages=deu"])
      expectRefusal(await reprocess(kept.id, query), 400, undefined, "ocr_languages");
  });

  test("are not kept with a text that has none of them", async () => {
    const kept = await library.keep(shelf, { content: "Only words.", name: "words.md" });
    expect(await readIn(kept.id)).toEqual([undefined]);
  });
});

test("recognized pages per day are counted for each organization, also with concurrent requests", async () => {
  const { db } = library.platform.resources;
  const budget = openPageBudget(db, 10);
  const [one, other] = [newId(), newId()];
  const granted = await Promise.all([4, 4, 4, 4].map((pages) => budget.take(one, pages)));
  expect(granted.toSorted()).toEqual([0, 2, 4, 4]);
  expect(await budget.take(other, 12)).toBe(10);
  await budget.giveBack(one, 3);
  expect(await budget.take(one, 5)).toBe(3);
  await db.query("update ops.recognized_pages set day = day - 1 where organization_id = $1", [one]);
  expect(await budget.take(one, 7)).toBe(7);
  expect(await openPageBudget(db, 0).take(newId(), 1)).toBe(0);
});

describe("without text recognition", () => {
  let off: Library;
  beforeAll(async () => {
    off = await openLibrary({ OCR: "off" });
  });

  test("pictures are refused, and scanned pages fail or are reported", async () => {
    const collection = await off.collect("Scans");
    expectRefusal(
      await off.upload(collection, { content: realFile("notice.png"), name: "notice.png" }),
      415,
      "unsupported_file_type",
    );
    expect(await off.keep(collection, { content: realFile("scanned.pdf"), name: "scanned.pdf" })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/seem to be scanned/),
    });
    const part = await off.keep(collection, { content: scanOf(["typed", notice]), name: "part.pdf" });
    expect(part).toMatchObject({ status: "ready", warnings: [{ code: "page_without_text", pages: [2] }] });
  });
});
