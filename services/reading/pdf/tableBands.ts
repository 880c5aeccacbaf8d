import { type Box, height, median } from "./geometry.ts";
import { isNumber, ROW_STEP } from "./wrappedRows.ts";

/* Tells the cells of a table from two columns of prose. */

export interface TextBox extends Box {
  text?: string;
  baseline?: number;
}

/** The number of a list's item is no value. */
const LIST_NUMBER = /^\(?\d{1,3}[.)]$/;

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
/** Share of the lines within rows that stand on one side only, because cells wrap over different numbers of lines. */
const MIN_ALONE = 0.25;

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
function sharedRows(before: readonly TextBox[], after: readonly TextBox[], size: number): Row[] {
  const rows: Row[] = [];
  const boxes = [
    ...before.map((box) => ({ y: box.baseline ?? box.y1, left: true })),
    ...after.map((box) => ({ y: box.baseline ?? box.y1, left: false })),
  ];
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
  const numbers = values.filter(({ text = "" }) => isNumber(text) && !LIST_NUMBER.test(text));
  if (numbers.length < MIN_VALUES) return null;
  const band = { y0: Math.min(...numbers.map((box) => box.y0)), y1: Math.max(...numbers.map((box) => box.y1)) };
  const [beside, inBand] = [within(labels, band), within(values, band)];
  const rows = sharedRows(beside, inBand, size).filter((row) => row.right);
  const shared = rows.filter((row) => row.left).length;
  const share = lengthOf(numbers) / Math.max(1, lengthOf(inBand));
  // a wide label may span the gap between the sides
  return rows.length >= MIN_VALUES && share >= MIN_NUMBERS && shared >= rows.length * 0.5 ? band : null;
}

const stepsOf = (rows: readonly Row[]): number[] => rows.slice(1).map((one, index) => one.y - rows[index]!.y);

/** The smallest step that is no exception, as that between a heading and its text. */
function usualLeast(steps: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const step of steps) counts.set(Math.round(step), (counts.get(Math.round(step)) ?? 0) + 1);
  const usual = [...counts].filter(([, count]) => count >= steps.length * 0.15).map(([step]) => step);
  return Math.min(...usual);
}

/** The band in which blank lines across both sides divide them into rows. Paragraphs of two columns start at different heights. */
function rowsBand(before: readonly TextBox[], after: readonly TextBox[], size: number): Band | null {
  const top = (boxes: readonly Box[]): number => Math.min(...boxes.map((box) => box.y0));
  const end = (boxes: readonly Box[]): number => Math.max(...boxes.map((box) => box.y1));
  const band = { y0: Math.max(top(before), top(after)), y1: Math.min(end(before), end(after)) + size * 2 };
  const rows = sharedRows(within(before, band), within(after, band), size);
  const steps = stepsOf(rows);
  // of one side, because lines of two columns of prose may alternate
  const sides = [stepsOf(rows.filter((row) => row.left)), stepsOf(rows.filter((row) => row.right))];
  const least = usualLeast(sides.flat().filter((step) => step >= size * 0.8));
  const isStart = (index: number): boolean => index === 0 || steps[index - 1]! > least * ROW_STEP;
  const isShared = ({ left, right }: Row): boolean => left && right;
  const starts = rows.filter((_, index) => isStart(index));
  const others = rows.filter((_, index) => !isStart(index));
  const alone = others.filter((row) => !isShared(row)).length;
  const isTable = starts.filter(isShared).length >= starts.length * 0.8 && alone >= others.length * MIN_ALONE;
  return starts.length >= MIN_ROWS && others.length >= MIN_VALUES && isTable ? band : null;
}

/** The band of a table whose cells stand on both sides; null if there is none. */
export function tableBand(before: readonly TextBox[], after: readonly TextBox[]): Band | null {
  if (before.length < MIN_VALUES || after.length < MIN_VALUES) return null;
  const size = median([...before, ...after].map(height)) || 1;
  return valuesBand(before, after, size) ?? valuesBand(after, before, size) ?? rowsBand(before, after, size);
}
