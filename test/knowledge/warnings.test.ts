import { expect, test } from "vitest";
import { pdfOf, show } from "#services/reading/pdf/testing/build.ts";
import { openLibrary } from "./library.ts";

/* Wherever the text of a partly read file is shown, a warning is shown with it. */

const library = await openLibrary();

/** One page of text, then three without. */
const partlyScanned = (words: string): Buffer<ArrayBuffer> =>
  Buffer.from(pdfOf([show(72, 700, 10, words), "", "", show(300, 30, 9, "4")]));

const WARNINGS = [
  {
    code: "page_without_text",
    pages: [2, 3, 4],
    message: "Pages 2-4 have no text that could be read, as blank and scanned pages do.",
  },
];

test("a document reports its pages without text, also beside search hits and after reprocessing", async () => {
  const { call, collect, keep, ended, search } = library;
  const collection = await collect("Warnings");
  const content = partlyScanned("The lighthouse keeper paints the railing every spring.");
  const document = await keep(collection, { content, name: "part.pdf" });
  expect(document).toMatchObject({ status: "ready", page_count: 4, warnings: WARNINGS });

  const found = await search({ query: "lighthouse railing", collections: [collection] });
  expect(found.body.results.map((one: any) => one.document.warnings)).toEqual([WARNINGS]);
  const listed = await call("GET", `/collections/${collection}/documents`);
  expect(listed.body.data.map((one: any) => one.warnings)).toEqual([WARNINGS]);

  expect((await call("POST", `/documents/${document.id}/reprocess`)).status).toBe(202);
  expect(await ended(document.id)).toMatchObject({ status: "ready", warnings: WARNINGS });
});

test("a document that is read completely has no warnings", async () => {
  const { collect, keep } = library;
  const collection = await collect("No warnings");
  expect(await keep(collection, { content: "# All of it", name: "whole.md" })).not.toHaveProperty("warnings");
});

test("an extraction reports its pages without text", async () => {
  const { extract, extracted } = library;
  const { body } = await extract({ content: partlyScanned("The pilot boat leaves at noon."), name: "part.pdf" });
  expect(await extracted(body.id)).toMatchObject({ status: "ready", warnings: WARNINGS });
});
