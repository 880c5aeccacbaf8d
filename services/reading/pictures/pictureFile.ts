import { writePdf, stream } from "../pdf/writePdf.ts";

/* Pictures become PDFs, one page each: PDF has the filters of PNG, JPEG, TIFF and fax, so one decoder and one layout serve all. */

/** A part of a picture as it is stored: a strip, a tile, or all of it. */
interface StoredImage {
  width: number;
  height: number;
  /** Upper left corner, in pixels of the picture. */
  x: number;
  y: number;
  /** The image's dictionary without its size: filter, colours. */
  entries: string;
  data: Uint8Array;
}

export interface StoredPicture {
  width: number;
  height: number;
  images: StoredImage[];
  /** Quarter turns clockwise to show it upright. */
  turns?: number;
}

/** The longer side of a picture in inches, as on paper. Only the sizes of letters depend on it. */
const LONG_SIDE = 11;
const MIN_DPI = 96;
const INCH = 72;

/** A PDF with one page for each picture. */
export function toPdf(pictures: readonly StoredPicture[]): Buffer {
  const objects: (string | Uint8Array)[] = ["<</Type/Catalog/Pages 2 0 R>>", ""];
  const add = (object: string | Uint8Array): string => `${objects.push(object)} 0 R`;
  const pages = pictures.map(({ width, height, images, turns = 0 }) => {
    const scale = INCH / Math.max(MIN_DPI, Math.max(width, height) / LONG_SIDE);
    const size = (pixels: number): string => (pixels * scale).toFixed(4);
    const names = images.map(({ width: w, height: h, entries, data }) =>
      add(stream(data, `/Type/XObject/Subtype/Image/Width ${w}/Height ${h}${entries}`)),
    );
    const draws = images.map(
      ({ width: w, height: h, x, y }, n) =>
        `q ${size(w)} 0 0 ${size(h)} ${size(x)} ${size(height - y - h)} cm /I${n} Do Q`,
    );
    const resources = `<</XObject<<${names.map((name, n) => `/I${n} ${name}`).join("")}>>>>`;
    const box = `/MediaBox[0 0 ${size(width)} ${size(height)}]/Rotate ${90 * turns}`;
    return add(`<</Type/Page/Parent 2 0 R${box}/Resources ${resources}/Contents ${add(stream(draws.join("\n")))}>>`);
  });
  objects[1] = `<</Type/Pages/Kids[${pages.join(" ")}]/Count ${pages.length}>>`;
  return writePdf(objects);
}
