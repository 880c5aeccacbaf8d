import { type Box, isMiddleIn, type Matrix, multiply, unitBox } from "./geometry.ts";
import type { PdfPage } from "./openPdf.ts";
import { OPS, type PageView, visitOperators } from "./operators.ts";

/** A decoded image in pdf.js's format. */
export interface ImageData {
  width: number;
  height: number;
  /** 1: one bit per pixel, where 1 is white. 2: red, green, blue. 3: with opacity. Masks have no kind: a bit of 0 is painted. */
  kind?: number;
  data: Uint8Array | Uint8ClampedArray;
}

/** An image on a page. `matrix` converts from the unit square, y up, to page coordinates. */
export interface PlacedImage {
  image: ImageData;
  matrix: Matrix;
  /** Shade of a mask's painted bits, 0 (black) to 255; undefined for pictures. */
  shade: number | undefined;
}

/** Maximum images of one page: scanners cut a page into up to 7,000 strips of one row each. */
const MAX_IMAGES = 10_000;
/** Maximum pixels of all images of one page. */
const MAX_PAGE_PIXELS = 120_000_000;

type ImageSource = string | (Partial<ImageData> & { data?: unknown });

/** The image that an operator names; null if it could not be decoded. */
async function loadImage(page: PdfPage, source: ImageSource): Promise<ImageData | null> {
  const named = typeof source === "string" ? source : typeof source.data === "string" ? source.data : null;
  const found =
    named === null
      ? source
      : await new Promise<unknown>((resolve) =>
          (named.startsWith("g_") ? page.commonObjs : page.objs).get(named, resolve),
        );
  const image = found as Partial<ImageData> | null;
  return image?.data && image.width && image.height ? (image as ImageData) : null;
}

interface Painting {
  source: ImageSource;
  /** Its matrix, applied after the current one. */
  places: Matrix[];
  isMask: boolean;
}

const UNIT: Matrix = [1, 0, 0, 1, 0, 0];

/** `positions`: x and y alternately. */
const placesOf = ([a, b, c, d]: readonly number[], positions: Float32Array): Matrix[] =>
  Array.from({ length: positions.length / 2 }, (_, n) => [a!, b!, c!, d!, positions[2 * n]!, positions[2 * n + 1]!]);

/** The images that an operator paints; empty if it paints none. */
function paintingsBy(operator: number, args: unknown[]): Painting[] {
  const [first] = args as [ImageSource & { transform: Matrix }[]];
  if (operator === OPS.paintImageXObject || operator === OPS.paintInlineImageXObject)
    return [{ source: first, places: [UNIT], isMask: false }];
  if (operator === OPS.paintImageMaskXObject) return [{ source: first, places: [UNIT], isMask: true }];
  if (operator === OPS.paintImageXObjectRepeat) {
    const [, x, y, positions] = args as [unknown, number, number, Float32Array];
    return [{ source: first, places: placesOf([x, 0, 0, y], positions), isMask: false }];
  }
  if (operator === OPS.paintImageMaskXObjectRepeat) {
    const [, a, b, c, d, positions] = args as [unknown, number, number, number, number, Float32Array];
    return [{ source: first, places: placesOf([a, b, c, d], positions), isMask: true }];
  }
  if (operator === OPS.paintImageMaskXObjectGroup)
    return first.map((one) => ({ source: one as unknown as ImageSource, places: [one.transform], isMask: true }));
  return [];
}

/** The lightness of `#rrggbb`, 0 to 255; black for patterns. */
const lightness = (color: unknown): number => {
  const [, r = "0", g = "0", b = "0"] = /^#(..)(..)(..)$/.exec(String(color)) ?? [];
  return Math.round(0.299 * parseInt(r, 16) + 0.587 * parseInt(g, 16) + 0.114 * parseInt(b, 16));
};

/** The images of a page in painting order; with `boxes`, only those inside them. `failed`: the number that could not be decoded. */
export async function readPageImages(
  page: PdfPage,
  view: PageView,
  boxes?: readonly Box[],
): Promise<{ images: PlacedImage[]; failed: number }> {
  const isWanted = (place: Matrix): boolean => !boxes || boxes.some((box) => isMiddleIn(unitBox(place), box));
  const found: (Painting & { shade: number })[] = [];
  let shade = 0;
  let count = 0;
  await visitOperators(page, view, (operator, args, current, isHidden) => {
    if (operator === OPS.setFillRGBColor) shade = lightness(args[0]);
    for (const painting of isHidden ? [] : paintingsBy(operator, args)) {
      const places = painting.places.map((place) => multiply(current, place)).filter(isWanted);
      count += places.length;
      if (places.length > 0) found.push({ ...painting, places, shade });
    }
    return count <= MAX_IMAGES;
  });
  const images: PlacedImage[] = [];
  let [pixels, failed] = [0, 0];
  for (const { source, places, isMask, shade: fill } of found) {
    const image = pixels > MAX_PAGE_PIXELS ? null : await loadImage(page, source);
    pixels += image ? image.width * image.height : 0;
    if (!image) failed += 1;
    else for (const place of places) images.push({ image, matrix: place, shade: isMask ? fill : undefined });
  }
  return { images, failed };
}
