import { describe, expect, it, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, pdfOf, show } from "./testing/build.ts";

const LOREM = "Every paragraph has a few words so that the page has a body size";

/** A page with a tagged sentence, and with more that no tag contains. */
const taggedPdf = (more: string): Buffer => {
  const objects = objectsOf([`${more} /P <</MCID 0>> BDC ${show(72, 700, 10, LOREM)} EMC`]);
  objects[0] = "<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>";
  objects[3] = String(objects[3]).replace("/Contents", "/StructParents 0/Contents");
  const tags = [
    "<</Type/StructTreeRoot/K[7 0 R]/ParentTree<</Nums[0[7 0 R]]>>>>",
    "<</Type/StructElem/S/P/P 6 0 R/Pg 4 0 R/K[0]>>",
  ];
  return writePdf([...objects, ...tags]);
};

describe("a letterhead", () => {
  const foot = [
    show(72, 50, 8, "Harbour Yard Ltd, 4 Quay Street, mail@yard.example"),
    show(72, 40, 8, "Account GB29 NWBK 6016 1331 9268 19"),
    show(300, 20, 8, "Page 1"),
  ].join("\n");
  const pages = [LOREM, `${LOREM} again`, "The end of it."].map(
    (text, n) => `${show(72, 700, 10, text)} ${foot.replace("Page 1", `Page ${n + 1}`)}`,
  );

  it("is read once, after the text of the first page that shows it", async () => {
    const [first, ...rest] = await readPdf(pdfOf(pages));
    expect(first).toBe(
      `${LOREM}\n\nHarbour Yard Ltd, 4 Quay Street, mail@yard.example\n\nAccount GB29 NWBK 6016 1331 9268 19`,
    );
    expect(rest).toEqual([`${LOREM} again`, "The end of it."]);
  });

  it("is not repeated if the text says the same", async () => {
    const told = show(72, 650, 10, "Pay to account gb29 NWBK 6016 1331 9268 19.");
    const [first] = await readPdf(pdfOf([`${pages[0]} ${told}`, pages[1]!]));
    expect(first?.match(/Account GB29/gi)).toHaveLength(1);
  });

  it("that the tags leave out of the text is read, too", async () => {
    const foot = `/Artifact BMC ${show(72, 50, 8, "Account GB29 NWBK 6016 1331 9268 19")} EMC`;
    expect(await readPdf(taggedPdf(foot))).toEqual([`${LOREM}\n\nAccount GB29 NWBK 6016 1331 9268 19`]);
  });
});

test("running heads with text that no page contains are counted, and variants with other numbers count once", async () => {
  const warnings: ReadingWarning[] = [];
  const heads = (page: number): string =>
    [
      show(72, 770, 8, "Confidential: for the harbour board only"),
      show(72, 758, 8, "Every paragraph has a few words"),
      show(72, 30, 8, `Draft of the board, page ${page}`),
    ].join(" ");
  const pages = [1, 2, 3].map((page) => `${heads(page)} ${show(72, 600, 10, `${LOREM} on page ${page}`)}`);
  const texts = await readPdf(pdfOf(pages), (warning) => warnings.push(warning));
  expect(texts.join(" ")).not.toMatch(/Confidential|Draft/);
  expect(warnings).toEqual([{ code: "headers_and_footers_left_out", count: 2 }]);
});

describe("text at another angle", () => {
  const turned = (x: number, y: number, text: string): string => `BT /body 9 Tf 0 1 -1 0 ${x} ${y} Tm (${text}) Tj ET`;

  it("follows its page, even if short, unless it is only a mark", async () => {
    const label = turned(40, 300, "Accuracy in percent");
    expect(await readPdf(pdfOf([`${label} ${show(72, 600, 10, LOREM)}`]))).toEqual([`${LOREM}\n\nAccuracy in percent`]);
    const mark = turned(40, 300, "C/0");
    expect(await readPdf(pdfOf([`${mark} ${show(72, 600, 10, LOREM)}`]))).toEqual([LOREM]);
  });

  it("that no tag contains is read, too", async () => {
    expect(await readPdf(taggedPdf(turned(40, 300, "Accuracy in percent")))).toEqual([
      `${LOREM}\n\nAccuracy in percent`,
    ]);
  });

  it("that repeats on several pages is counted, like a printer's stamp in the margin", async () => {
    const warnings: ReadingWarning[] = [];
    const pages = [1, 2, 3].map(
      (page) => `${turned(20, 300, "Printed on DSK11 with RULES")} ${show(72, 600, 10, `${LOREM} ${page}`)}`,
    );
    const texts = await readPdf(pdfOf(pages), (warning) => warnings.push(warning));
    expect(texts).toEqual([1, 2, 3].map((page) => `${LOREM} ${page}`));
    expect(warnings).toEqual([{ code: "headers_and_footers_left_out", count: 1 }]);
  });
});

test("a clause that begins several pages is not a running head, and its lines stay together", async () => {
  const clause = [
    show(72, 704, 10, "This clause is provided for all of the parts alike and carries no"),
    show(72, 692, 10, "weight of its own."),
  ].join(" ");
  const page = (part: string): string =>
    `${show(72, 770, 10, "Sample agreement")} ${clause} ${show(72, 600, 10, part)}`;
  const whole = "This clause is provided for all of the parts alike and carries no weight of its own.";
  expect(await readPdf(pdfOf([page(`${LOREM}.`), page("The end of it.")]))).toEqual([
    `${whole}\n\n${LOREM}.`,
    `${whole}\n\nThe end of it.`,
  ]);
});

test("text that no tag contains, such as the flattened field of a form, follows the tagged text", async () => {
  const field = show(300, 400, 10, "Ada Park");
  expect(await readPdf(taggedPdf(`${field} ${show(300, 20, 8, "7")}`))).toEqual([`${LOREM}\n\nAda Park`]);
});
