import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, show } from "./testing/build.ts";

test("a file whose page tree is damaged in the middle reports unread pages", async () => {
  const objects = objectsOf(["first", "second", "third"].map((n) => show(72, 700, 12, `Here is the ${n} page.`)));
  objects[1] = "<</Type/Pages/Kids[4 0 R (damaged) 8 0 R]/Count 3>>";
  const warnings: ReadingWarning[] = [];
  expect(await readPdf(writePdf(objects), (warning) => warnings.push(warning))).toEqual([
    "Here is the first page.",
    "",
  ]);
  expect(warnings).toEqual([
    { code: "page_damaged", pages: [2] },
    { code: "pages_cut", pages: [2] },
  ]);
});
