import { describe, expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, show, stream } from "./testing/build.ts";

/* Pictures on pages with text, without text recognition: what is not read is named. */

const PIXEL = "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8";

const SENTENCES = [
  "The invoice of the boat yard is shown below.",
  "Nobody has painted the railing since spring.",
  "High water comes at noon, low water at six.",
  "Four crates of herring wait on the north quay.",
];

/** The pages that a warning names for their pictures. Each has a sentence. `/P` is an image, `/F` a form that shows it. */
const picturedPages = async (...pages: string[]): Promise<number[] | undefined> => {
  const objects = objectsOf(pages.map((operators, n) => `${show(72, 740, 10, SENTENCES[n]!)} ${operators}`));
  const image = objects.push(stream("x", PIXEL));
  const form = `/Type/XObject/Subtype/Form/BBox[0 0 9999 9999]/Resources<</XObject<</P ${image} 0 R>>>>`;
  const number = objects.push(stream("q 400 0 0 300 0 0 cm /P Do Q", form));
  objects[2] = String(objects[2]).replace("<</Font", `<</XObject<</P ${image} 0 R/F ${number} 0 R>>/Font`);
  const warnings: ReadingWarning[] = [];
  await readPdf(writePdf(objects), (warning) => warnings.push(warning));
  expect(warnings.filter(({ code }) => code !== "images_without_text")).toEqual([]);
  return warnings[0]?.pages;
};

const paint = (x: number, y: number, w: number, h: number): string => `q ${w} 0 0 ${h} ${x} ${y} cm /P Do Q`;
const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => show(80, 680 - 12 * n, 10, `Line ${n} of the text that stands here.`)).join(
    "\n",
  );

describe("a warning names pages with text and a picture:", () => {
  test.each<[title: string, operators: string]>([
    ["that covers a third of the page", paint(100, 300, 400, 300)],
    ["that is a receipt in a corner", paint(400, 100, 140, 160)],
    ["that lies on its side", "q 0 300 -400 0 500 200 cm /P Do Q"],
    ["that a form shows", "q 1 0 0 1 100 300 cm /F Do Q"],
    ["that is clipped", "q 400 0 0 300 100 300 cm 0 0 1 1 re W n /P Do Q"],
    ["whose place is the last operator", "400 0 0 300 100 300 cm /P Do"],
    ["that is cut into strips", Array.from({ length: 100 }, (_, n) => paint(100, 300 + 3 * n, 400, 3)).join("\n")],
    [
      "that is cut into tiles",
      Array.from({ length: 100 }, (_, n) => paint(100 + 40 * (n % 10), 300 + 30 * Math.floor(n / 10), 40, 30)).join(
        "\n",
      ),
    ],
    ["that is inline", "q 400 0 0 300 100 300 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"],
    ["with a stamp over it", `${paint(0, 0, 612, 700)} ${show(400, 30, 9, "Received on 3 May 2026")}`],
    ["beside a page's text on a background", `${paint(0, 0, 612, 792)} ${lines(20)} ${paint(100, 40, 400, 300)}`],
  ])("%s", async (_title, operators) => {
    expect(await picturedPages(operators, "")).toEqual([1]);
  });

  test("but only the first page with the same picture at its foot", async () => {
    const foot = paint(0, 0, 612, 92);
    expect(await picturedPages(foot, foot, `${foot} ${paint(100, 300, 400, 300)}`, "")).toEqual([1, 3]);
  });
});

test.each<[title: string, operators: string]>([
  ["a logo", paint(450, 730, 100, 50)],
  ["a bar across the page", paint(0, 700, 612, 25)],
  ["many icons", Array.from({ length: 60 }, (_, n) => paint(50, 20 + 11 * n, 10, 10)).join("\n")],
  ["a background behind the text", `${paint(0, 0, 612, 792)} ${lines(20)}`],
  ["a scan whose text another program has read", `${paint(0, 0, 612, 792)} 3 Tr ${lines(20)}`],
  ["a drawing", "q 400 0 0 300 100 300 cm 0 0 m 1 1 l S Q"],
  ["operators in the size of the page", `q 612 0 0 792 0 0 cm q 0.01 0 0 0.01 0 0 cm 1 1 m 9 9 l S Q Q`],
])("no warning names a page for %s", async (_title, operators) => {
  expect(await picturedPages(operators)).toBeUndefined();
});
