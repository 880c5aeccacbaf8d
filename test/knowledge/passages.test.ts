import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { unreadable, realFile } from "../files/index.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openLibrary } from "./library.ts";

/* GET /documents/{id}/passages: what search and citations name. */

const HANDBOOK = readFileSync(new URL("../../examples/handbook.pdf", import.meta.url));
const MARKDOWN = Array.from({ length: 40 }, (_, n) => `# Part ${n}\n\n${`Words of part ${n} 🦜. `.repeat(40)}`).join(
  "\n\n",
);

const library = await openLibrary();
const shelf = await library.collect("Passages");

const read = (id: string, query = "") => library.call("GET", `/documents/${id}/passages${query}`);

test("passages come in pages without a gap, and together form the document's Markdown", async () => {
  const { id } = (await library.push(shelf, { text: MARKDOWN, name: "long.md" })).body;
  const { chunk_count } = await library.ended(id);
  expect(chunk_count).toBeGreaterThan(20);
  const seen: any[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const { body }: { body: any } = await read(id, `?from_seq=${from}&limit=7`);
    expect([body.total, body.data.length <= 7]).toEqual([chunk_count, true]);
    seen.push(...body.data);
    from = body.next_from_seq;
  }
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: chunk_count }, (_, n) => n));
  const { text } = await library.call("GET", `/documents/${id}/text`);
  expect(seen.map((passage) => passage.text).join("")).toBe(text);
  for (const { start, end, text: words } of seen) expect(text.slice(start, end)).toBe(words);
  expect(seen.at(-1)).toMatchObject({ page: null, section: "Part 39" });
  expect((await read(id, `?from_seq=${chunk_count}`)).body).toEqual({
    data: [],
    total: chunk_count,
    next_from_seq: null,
  });
});

test("the passage with a hit's number has the hit's text and page", async () => {
  const { id } = await library.keep(shelf, { content: HANDBOOK, name: "handbook.pdf" });
  const { body } = await library.search({ query: "work from home days", document_ids: [id] });
  const [hit] = body.results[0].passages;
  const { data } = (await read(id, `?from_seq=${hit.seq}&limit=1`)).body;
  expect(data).toMatchObject([{ seq: hit.seq, page: hit.page, text: expect.stringContaining(hit.content.trim()) }]);
  const ofPage = (await read(id, "?from_page=2")).body.data;
  expect(ofPage[0].page).toBe(2);
  expect((await read(id, `?from_seq=${ofPage[0].seq - 1}&limit=1`)).body.data[0].page).toBe(1);
});

const verify = (body: unknown) => library.call("POST", "/verify", body);

test("verify checks an answer against its cited passages, and returns the position of each sentence", async () => {
  const text = "# Rates\n\n| Work | Rate |\n| --- | --- |\n| Body labor | $57.50 |\n| Paint labor | $61.00 |";
  const { id } = (await library.push(shelf, { text, name: "rates.md" })).body;
  await library.ended(id);
  const answer = "Body labor is charged at a rate of $57.50. Paint labor is charged at a rate of $99.";
  const cited = [{ document_id: id, seq: 0 }];
  const { status, body } = await verify({ answer, citations: cited });
  expect([status, body.supported, body.unsupported]).toEqual([200, 1, 1]);
  const [body_labor, paint_labor] = body.sentences;
  expect(body_labor).toMatchObject({
    verdict: "supported",
    source: { citation: 0, document_id: id, reference: "Rates" },
  });
  expect(text.slice(body_labor.source.start, body_labor.source.end)).toContain("| Body labor | $57.50 |");
  expect(answer.slice(paint_labor.start_index, paint_labor.end_index)).toBe(paint_labor.text);
  expect(paint_labor).toMatchObject({ verdict: "unsupported", missing_numbers: ["99"] });
  expect(body.citations).toEqual([
    {
      document_id: id,
      version: 1,
      seq: 0,
      section: "Rates",
      reference: "Rates",
      start: 0,
      end: text.length,
      found: true,
    },
  ]);
});

test("a citation of an unknown document or passage supports nothing", async () => {
  const { id } = (await library.push(shelf, { text: "The harbour opens at seven.", name: "harbour.md" })).body;
  await library.ended(id);
  const citations = [
    { document_id: UNKNOWN, seq: 0 },
    { document_id: id, seq: 7 },
  ];
  const { body } = await verify({ answer: "The harbour opens at seven.", citations });
  expect(body).toMatchObject({ supported: 0, unsupported: 1 });
  expect(body.citations).toEqual(citations.map((citation) => ({ ...citation, found: false })));
  expectRefusal(await verify({ answer: " ", citations }), 400, undefined, "answer");
  const before = [{ document_id: id, seq: -1 }];
  expectRefusal(await verify({ answer: "x", citations: before }), 400, undefined, "citations[0].seq");
});

test("documents without text, unknown documents and invalid numbers are refused", async () => {
  const { name } = unreadable[0]!;
  const failed = await library.keep(shelf, { content: realFile(name), name });
  expectRefusal(await read(failed.id), 404, "no_extracted_text");
  expectRefusal(await read(UNKNOWN), 404, "not_found");
  for (const from of ["-1", "x", "1e3", "9999999999"])
    expectRefusal(await read(failed.id, `?from_seq=${from}`), 400, undefined, "from_seq");
});
