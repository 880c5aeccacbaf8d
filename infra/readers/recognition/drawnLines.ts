import type { DrawnLine, DrawnLines, GrayPicture } from "#services/reading/pictures/recognizer.ts";

/*
 * Drawn lines, such as borders of a table. Text recognition mistakes them for letters, so they are removed from the picture; the
 * layout needs their positions.
 */

const INK = 185;
const PAPER = 255;
/** As fractions of the picture's longer side: shorter strokes may belong to letters, thicker ones are bars. */
const MIN_LENGTH = 1 / 32;
const MAX_THICKNESS = 1 / 220;
/** Maximum lines in one direction; a picture with more is not a page of text. */
const MAX_LINES = 2_000;

/**
 * `along` and `across`: steps in `pixels` to the next pixel along the line, and to the next one across it. `length` and `breadth`:
 * number of pixels in each direction.
 */
interface Direction {
  along: number;
  across: number;
  length: number;
  breadth: number;
}

interface Stroke extends DrawnLine {
  /** The last row of the stroke so far, and its runs in all rows. */
  last: number;
  rows: { row: number; from: number; to: number }[];
}

/** Whether a pixel or a neighbour across the line is ink, because skewed lines continue in the next row. */
const isInkNear = (pixels: Uint8Array, at: number, across: number): boolean =>
  pixels[at]! < INK || (pixels[at - across] ?? PAPER) < INK || (pixels[at + across] ?? PAPER) < INK;

/** The runs of ink in a row that are long enough for a line. */
function* longRuns(pixels: Uint8Array, row: number, { along, across, length }: Direction, minimum: number) {
  let from = -1;
  for (let i = 0, at = row * across; i <= length; i++, at += along) {
    const isInk = i < length && isInkNear(pixels, at, across);
    if (isInk && from < 0) from = i;
    if (isInk || from < 0) continue;
    if (i - from >= minimum) yield { from, to: i };
    from = -1;
  }
}

/** Finds groups of long runs that touch each other from row to row, so that lines need not be quite straight. */
function findStrokes(pixels: Uint8Array, direction: Direction, minimum: number): Stroke[] {
  const found: Stroke[] = [];
  let open: Stroke[] = [];
  for (let row = 0; row < direction.breadth && found.length < MAX_LINES; row++) {
    for (const { from, to } of longRuns(pixels, row, direction, minimum)) {
      let stroke = open.find((one) =>
        one.rows.some((part) => part.row >= row - 1 && part.from <= to && from <= part.to),
      );
      if (!stroke) {
        stroke = { at: row, from, to, last: row, rows: [] };
        open.push(stroke);
        found.push(stroke);
      }
      stroke.rows.push({ row, from, to });
      Object.assign(stroke, { from: Math.min(stroke.from, from), to: Math.max(stroke.to, to), last: row });
    }
    open = open.filter(({ last }) => last >= row - 1);
  }
  return found;
}

/** The mean thickness in pixels: ink per length. */
function thickness(pixels: Uint8Array, { along, across }: Direction, { rows, from, to }: Stroke): number {
  let ink = 0;
  for (const part of rows)
    for (let i = part.from; i < part.to; i++) if (pixels[part.row * across + i * along]! < INK) ink++;
  return ink / (to - from);
}

function erase(pixels: Uint8Array, { along, across, length, breadth }: Direction, { rows }: Stroke): void {
  for (const { row, from, to } of rows) {
    for (let r = Math.max(0, row - 1); r <= Math.min(breadth - 1, row + 1); r++)
      for (let i = Math.max(0, from - 1); i < Math.min(length, to + 1); i++) pixels[r * across + i * along] = PAPER;
  }
}

/** Finds the drawn lines of a picture and removes them from it. */
export function takeDrawnLines({ width, height, pixels }: GrayPicture): DrawnLines {
  const long = Math.max(width, height);
  const directions: Direction[] = [
    { along: 1, across: width, length: width, breadth: height },
    { along: width, across: 1, length: height, breadth: width },
  ];
  const strokes = directions.map((direction) =>
    findStrokes(pixels, direction, long * MIN_LENGTH).filter(
      (stroke) => thickness(pixels, direction, stroke) <= long * MAX_THICKNESS,
    ),
  );
  for (const [n, direction] of directions.entries()) for (const stroke of strokes[n]!) erase(pixels, direction, stroke);
  const [across, down] = strokes.map((lines) =>
    lines.map(({ at, last, from, to }) => ({ at: (at + last) / 2, from, to })),
  );
  return { across: across!, down: down! };
}
