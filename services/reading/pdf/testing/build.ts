import { writePdf, stream } from "../writePdf.ts";

/* Builds PDFs for tests. */

export { writePdf, stream };

/** Widths of Helvetica in thousandths of the text size, for characters that differ from 556. */
const WIDTHS: Record<string, number> = Object.fromEntries(
  Object.entries({
    " .,:;/!ftI[]": 278,
    "ijl'": 222,
    "()r-`": 333,
    ckJsvxyz: 500,
    ABEKPSVXY: 667,
    CDHNRUw: 722,
    GOQ: 778,
    FTZ: 611,
    mM: 833,
    W: 944,
  }).flatMap(([signs, width]) => Array.from(signs, (sign) => [sign, width])),
);

export const widthOf = (text: string, size: number): number => {
  let width = 0;
  for (const sign of text) width += WIDTHS[sign] ?? 556;
  return (width * size) / 1_000;
};

const FONTS = { body: "Helvetica", bold: "Helvetica-Bold", mono: "Courier", italic: "Helvetica-Oblique" };

export type Font = keyof typeof FONTS;

const quoted = (text: string): string => text.replace(/[\\()]/g, "\\$&");

/** Operators that show text with its baseline at x and y, in points from the lower left. */
export const show = (x: number, y: number, size: number, text: string, font: Font = "body"): string =>
  `BT /${font} ${size} Tf ${x.toFixed(2)} ${y.toFixed(2)} Td (${quoted(text)}) Tj ET`;

export const line = (x0: number, y0: number, x1: number, y1: number): string => `${x0} ${y0} m ${x1} ${y1} l S`;

/** The objects of a PDF with these pages' operators: catalog, page tree, fonts, then page and content alternately. */
export function objectsOf(pages: readonly string[]): (string | Buffer)[] {
  const fonts = Object.entries(FONTS)
    .map(([name, base]) => `/${name}<</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding/BaseFont/${base}>>`)
    .join("");
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  return [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`,
    `<</Font<<${fonts}>>>>`,
    ...pages.flatMap((content, index) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources 3 0 R/Contents ${5 + 2 * index} 0 R>>`,
      stream(Buffer.from(content, "latin1")),
    ]),
  ];
}

export const pdfOf = (pages: readonly string[]): Buffer => writePdf(objectsOf(pages));
