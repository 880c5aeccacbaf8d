import { expect, test } from "vitest";
import { inReadingOrder } from "./readingDirection.ts";
import { readPdf } from "./readPdf.ts";
import { writePdf, stream } from "./testing/build.ts";

/** A text as it is drawn, from left to right. */
const drawn = (...parts: string[]): string => parts.toReversed().join("");
const turned = (text: string): string => Array.from(text).toReversed().join("");

test.each([
  ["Latin text stays", "Plain text, 25.5 %.", "Plain text, 25.5 %."],
  ["letters are reversed", turned("שלום עולם."), "שלום עולם."],
  ["numbers are not reversed", drawn(turned("גרסה "), "25.5%", turned(" מתוך "), "1,200"), "גרסה 25.5% מתוך 1,200"],
  ["two separate numbers stay two", drawn(turned("של "), "12", turned(" "), "340"), "של 12 340"],
  [
    "names in other scripts are not reversed",
    drawn(turned("קובץ "), "Word 2016", turned(" חדש")),
    "קובץ Word 2016 חדש",
  ],
  [
    "numbers in a quotation are not reversed",
    `See ${drawn(turned("פרק "), "12", turned(" כאן"))} and go`,
    "See פרק 12 כאן and go",
  ],
  [
    "a quotation with more letters than the line has is not reversed",
    drawn(turned("שלום עולם ("), "English inside", turned(") סוף")),
    "שלום עולם (English inside) סוף",
  ],
  ["a quotation in Latin text is reversed", `See ${turned("שלום עולם")} and go`, "See שלום עולם and go"],
])("right-to-left writing: %s", (_, drawing, text) => {
  expect(inReadingOrder(drawing)).toBe(text);
});

/** A page with a font whose codes from 65 on stand for these texts, shown in lines at these places. */
function page(glyphs: readonly string[], lines: readonly (readonly [x: number, y: number, codes: number[]])[]): Buffer {
  const hex = (code: number): string => (code + 64).toString(16);
  const map = glyphs.map(
    (text, index) => `<${hex(index + 1)}> <${Buffer.from(text, "utf16le").swap16().toString("hex")}>`,
  );
  const toUnicode = `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange ${glyphs.length} beginbfchar ${map.join(" ")} endbfchar endcmap end`;
  const widths = glyphs.map(() => "500").join(" ");
  const shown = lines.map(([x, y, codes]) => `1 0 0 1 ${x} ${y} Tm <${codes.map(hex).join("")}> Tj`).join(" ");
  return writePdf([
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
    `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 65/LastChar ${64 + glyphs.length}/Widths[${widths}]/ToUnicode 6 0 R>>`,
    stream(Buffer.from(`BT /F 10 Tf ${shown} ET`)),
    stream(Buffer.from(toUnicode)),
  ]);
}

test("the letters of an Arabic ligature keep their order", async () => {
  // salam: seen, lam-alef, meem, drawn from its end
  expect(await readPdf(page(["م", "لا", "س"], [[72, 700, [1, 2, 3]]]))).toEqual(["سلام"]);
});

test("Latin words keep their position on an Arabic line, with the spaces around them", async () => {
  const glyphs = ["ه", "ذ", "ا", " ", "P", "D", "F", "ج", "د", "ي"];
  const file = page(glyphs, [
    [120, 700, [4, 3, 2, 1]],
    [105, 700, [5, 6, 7]],
    [85, 700, [10, 9, 8, 4]],
  ]);
  expect(await readPdf(file)).toEqual(["هذا PDF جدي"]);
});
