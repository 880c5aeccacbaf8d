import { countLetters } from "../warnings.ts";
import { boundingBox, type Box, height, isMiddleIn, type Matrix, overlap, unitBox, width } from "./geometry.ts";
import type { PdfPage } from "./openPdf.ts";
import type { Layers } from "./layers.ts";
import { OPS, type PageView, visitOperators } from "./operators.ts";
import type { PageText } from "./runs.ts";

/* Finds pictures on pages with text, such as scanned receipts, charts and screenshots. The page's text does not contain their text. */

/** Pictures with possibly unread text, in page coordinates. */
export interface PagePictures {
  boxes: Box[];
  /** From PDF units to page coordinates. */
  matrix: Matrix;
  /** Size of the page, in points. */
  height: number;
}

/** Minimum share of the page that a picture covers; a letterhead or an icon covers less. */
const MIN_SHARE = 0.03;
/** Minimum length of the shorter side, in points; bars and borders are thinner. */
const MIN_SIDE = 30;
/** Minimum letters and digits over a picture that count as its text; fewer are a stamp or a label. */
const MIN_LETTERS = 30;
/** The same over a picture of a whole page: a scan with recognized text has more, and so has a page with a background. */
const MIN_LETTERS_OF_PAGE = 100;
/** Maximum images of one page: scanners cut a picture into thousands of strips. */
const MAX_IMAGES = 10_000;
/** Maximum points between two strips of a picture. */
const MAX_GAP = 1.5;

/** Operators that paint something other than an image. */
const PAINTS = new Set<number>([OPS.showText, OPS.shadingFill, OPS.paintFormXObjectBegin]);
const isPainting = (operator: number, args: readonly unknown[]): boolean =>
  PAINTS.has(operator) || (operator === OPS.constructPath && args[0] !== OPS.endPath);

/**
 * Finds where a page shows images. Pages are opened without images, because decoding takes far longer than reading text. An
 * undecoded image leaves only the transform of its unit square, with no paint operator after it.
 */
async function findImages(page: PdfPage, view: PageView): Promise<Box[]> {
  const found: Box[] = [];
  let square: Matrix | null = null;
  let annotations = 0;
  await visitOperators(page, view, (operator, args, current, isHidden) => {
    if (operator === OPS.transform) square = annotations === 0 && !isHidden ? current : null;
    else if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) {
      if (square !== null) found.push(unitBox(square));
      square = null;
    } else if (operator === OPS.beginAnnotation) annotations++;
    else if (operator === OPS.endAnnotation) annotations--;
    else if (isPainting(operator, args)) square = null;
    return found.length < MAX_IMAGES;
  });
  if (square !== null) found.push(unitBox(square));
  return found;
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= MAX_GAP;

/** Whether two boxes are strips of one picture, one below or beside the other. */
const areStrips = (a: Box, b: Box): boolean =>
  (isNear(a.x0, b.x0) && isNear(a.x1, b.x1) && (isNear(a.y1, b.y0) || isNear(b.y1, a.y0))) ||
  (isNear(a.y0, b.y0) && isNear(a.y1, b.y1) && (isNear(a.x1, b.x0) || isNear(b.x1, a.x0)));

/** Joins the strips of pictures, which are painted consecutively. */
function joinStrips(boxes: readonly Box[]): Box[] {
  const joined: Box[] = [];
  for (const box of boxes) {
    const last = joined.at(-1);
    if (last !== undefined && areStrips(last, box)) joined[joined.length - 1] = boundingBox([last, box]);
    else joined.push(box);
  }
  return joined;
}

/** The pictures of a page with possibly unread text; null if there are none. */
export async function findPictures(page: PdfPage, text: PageText, layers: Layers): Promise<PagePictures | null> {
  const { matrix, width: pageWidth, height: pageHeight } = text;
  const share = (box: Box): number =>
    (Math.max(0, overlap(box.x0, box.x1, 0, pageWidth)) * Math.max(0, overlap(box.y0, box.y1, 0, pageHeight))) /
    (pageWidth * pageHeight);
  // tiles are rows of strips
  const pictures = joinStrips(joinStrips(await findImages(page, { matrix, layers })));
  const large = pictures.filter((box) => Math.min(width(box), height(box)) >= MIN_SIDE && share(box) >= MIN_SHARE);
  if (large.length === 0) return null;
  const runs = [...text.runs, ...text.rotated.map(({ onPage }) => onPage)];
  const boxes = large.filter((box) => {
    const letters = runs.reduce((sum, run) => sum + (isMiddleIn(run, box) ? countLetters(run.text) : 0), 0);
    return letters < Math.max(MIN_LETTERS, MIN_LETTERS_OF_PAGE * share(box));
  });
  return boxes.length === 0 ? null : { boxes, matrix, height: pageHeight };
}

/** Share of the page's height at its top and bottom that contains pictures of letterheads and running heads. */
const EDGE = 0.15;
/** Minimum pages with the same picture there. */
const MIN_REPEATS = 3;

/** The pictures of all pages, in order; a picture of a letterhead only on the first page that shows it. */
export function dropRepeatedPictures(pages: readonly (PagePictures | null)[]): (PagePictures | null)[] {
  const placeOf = (box: Box): string => [box.x0, box.y0, box.x1, box.y1].map(Math.round).join(" ");
  const isAtEdge = (box: Box, high: number): boolean => box.y1 <= high * EDGE || box.y0 >= high * (1 - EDGE);
  const counts = new Map<string, number>();
  for (const page of pages)
    for (const box of page?.boxes ?? []) counts.set(placeOf(box), (counts.get(placeOf(box)) ?? 0) + 1);
  const seen = new Set<string>();
  return pages.map((page) => {
    if (page === null) return null;
    const boxes = page.boxes.filter((box) => {
      const place = placeOf(box);
      const isRepeated = seen.has(place) && isAtEdge(box, page.height) && counts.get(place)! >= MIN_REPEATS;
      seen.add(place);
      return !isRepeated;
    });
    return boxes.length === 0 ? null : { ...page, boxes };
  });
}
