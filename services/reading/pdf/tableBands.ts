import { type Box, height } from "./geometry.ts";
import { isNumber, ROW_STEP } from "./wrappedRows.ts";

/* Tells the cells of a table from two columns of prose. */

export interface TextBox extends Box {
  text?: string;
}

/** From top to bottom, in points. */
export interface Band {
  y0: number;
  y1: number;
}

/** Share of a side's characters that are numbers if it consists of values. */
const MIN_NUMBERS = 0.5;
/** Rows of a table; fewer may be paragraphs that start at the same height by chance. */
const MIN_ROWS = 4;
const MIN_VALUES = 3;

const within = <B extends Box>(boxes: readonly B[], { y0, y1 }: Band): B[] =>
  boxes.filter((box) => box.y0 >= y0 - 1 && box.y1 <= y1 + 1);

export const isWithin = (box: Box, bands: readonly Band[]): boolean =>
  bands.some((band) => box.y0 >= band.y0 - 1 && box.y1 <= band.y1 + 1);

const lengthOf = (boxes: readonly TextBox[]): number => boxes.reduce((sum, box) => sum + (box.text?.length ?? 0), 0);

interface Row {
  y: number;
  left: boolean;
  right: boolean;
}

/** The lines of both sides, from top to bottom. */
function sharedRows(before: readonly Box[], after: readonly Box[], size: number): Row[] {
  const rows: Row[] = [];
  const boxes = [...before.map((box) => ({ y: box.y1, left: true })), ...after.map((box) => ({ y: box.y1, left: false }))];
  for (const { y, left } of boxes.toSorted((a, b) => a.y - b.y)) {
    let row = rows.at(-1);
    if (row === undefined || y - row.y >= size * 0.3) rows.push((row = { y, left: false, right: false }));
    if (left) row.left = true;
    else row.right = true;
  }
  return rows;
}

/** The band in which one side has numbers on the lines of the other: values beside their labels. */
function valuesBand(labels: readonly TextBox[], values: readonly TextBox[], size: number): Band | null {
  const numbers = values.filter((box) => isNumber(box.text ?? ""));
  if (numbers.length < MIN_VALUES) return null;
  const band = { y0: Math.min(...numbers.map((box) => box.y0)), y1: Math.max(...numbers.map((box) => box.y1)) };
  const [beside, inBand] = [within(labels, band), within(values, band)];
  const rows = sharedRows(beside, inBand, size).filter((row) => row.right);
  const shared = rows.filter((row) => row.left).length;
  const share = lengthOf(numbers) / Math.max(1, lengthOf(inBand));
  // a wide label may span the gap between the sides
  return rows.length >= MIN_VALUES && share >= MIN_NUMBERS && shared >= rows.length * 0.5 ? band : null;
}

/** The band in which blank lines across both sides divide them into rows. Paragraphs of two columns start at different heights. */
function rowsBand(before: readonly Box[], after: readonly Box[], size: number): Band | null {
  const top = (boxes: readonly Box[]): number => Math.min(...boxes.map((box) => box.y0));
  const end = (boxes: readonly Box[]): number => Math.max(...boxes.map((box) => box.y1));
  const band = { y0: Math.max(top(before), top(after)), y1: Math.min(end(before), end(after)) + size * 2 };
  const rows = sharedRows(within(before, band), within(after, band), size);
  const steps = rows.slice(1).map((one, index) => one.y - rows[index]!.y);
  const least = Math.min(...steps.filter((step) => step >= size * 0.8));
  const starts = rows.filter((_, index) => index === 0 || steps[index - 1]! > least * ROW_STEP);
  const shared = starts.filter((row) => row.left && row.right).length;
  return starts.length >= MIN_ROWS && starts.length < rows.length && shared >= starts.length * 0.8 ? band : null;
}

/** The band of a table whose cells stand on both sides; null if there is none. */
export function tableBand(before: readonly TextBox[], after: readonly TextBox[]): Band | null {
  if (before.length < MIN_VALUES || after.length < MIN_VALUES) return null;
  const size = Math.min(...[...before, ...after].map(height)) || 1;
  return valuesBand(before, after, size) ?? valuesBand(after, before, size) ?? rowsBand(before, after, size);
}
