import { boundingBox, type Box, height, median } from "./geometry.ts";
import { isNumber, ROW_STEP } from "./wrappedRows.ts";

/* Distinguishes the cells of a table from two columns of prose. */

export interface TextBox extends Box {
  text?: string;
  baseline?: number;
}

/** The number of a list item is not a value. */
const LIST_NUMBER = /^\(?\d{1,3}[.)]$/;

/** From top to bottom, in points. */
export interface Band {
  y0: number;
  y1: number;
}

/** Minimum share of number characters on a side that consists of values. */
const MIN_NUMBERS = 0.5;
/** Minimum rows of a table; fewer may be paragraphs that start at the same height by chance. */
const MIN_ROWS = 4;
const MIN_VALUES = 3;
/** Maximum lines without a value between two with one: wrapped labels, section names. */
const MAX_OTHERS = 2;
/** Maximum distance of two values below each other, as a multiple of the text's size. */
const MAX_STEP = 6;
/** Maximum share of their column that labels fill. */
const MAX_LABEL = 0.8;
/** Maximum share of the lines within rows that are on one side only, because cells wrap over different numbers of lines. */
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
  /** Characters on the right side, and those of them that are numbers. */
  length: number;
  numbers: number;
  /** The right end of the right side. */
  x1: number;
  /** The same, if its last text is a value. */
  end: number | null;
}

const isValue = ({ text = "" }: TextBox): boolean => isNumber(text) && !LIST_NUMBER.test(text);

/** The lines of both sides, from top to bottom. */
function sharedRows(before: readonly TextBox[], after: readonly TextBox[], size: number): Row[] {
  const rows: Row[] = [];
  const boxes = [...before.map((box) => ({ box, left: true })), ...after.map((box) => ({ box, left: false }))];
  const baseline = (box: TextBox): number => box.baseline ?? box.y1;
  for (const { box, left } of boxes.toSorted((a, b) => baseline(a.box) - baseline(b.box))) {
    const y = baseline(box);
    let row = rows.at(-1);
    if (row === undefined || y - row.y >= size * 0.3)
      rows.push(
        (row = { y, left: false, right: false, length: 0, numbers: 0, x1: Number.NEGATIVE_INFINITY, end: null }),
      );
    if (left) row.left = true;
    else {
      if (box.x1 > row.x1) [row.x1, row.end] = [box.x1, isValue(box) ? box.x1 : null];
      row.right = true;
      row.length += lengthOf([box]);
      row.numbers += isValue(box) ? lengthOf([box]) : 0;
    }
  }
  return rows;
}

/** Whether a label is on the line, or close by if the values are in the middle of a label of two lines. */
const hasLabel = (rows: readonly Row[], at: number, size: number): boolean =>
  [at - 1, at, at + 1].some((near) => rows[near]?.left && Math.abs(rows[near].y - rows[at]!.y) < size * 0.9);

/** Stretches of rows with values, from the first with a label to the last value. Other lines may be between two of them. */
function stretchesOfValues(rows: readonly Row[], size: number): Row[][] {
  const stretches: Row[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const [at, row] of rows.entries()) {
    if (row.numbers === 0) continue;
    const continues = rows.slice(last + 1, at).filter(({ right }) => right).length <= MAX_OTHERS && last >= 0;
    if (continues && row.y - rows[last]!.y < size * MAX_STEP) stretches.at(-1)!.push(...rows.slice(last + 1, at + 1));
    else if (hasLabel(rows, at, size)) stretches.push([row]);
    else continue;
    last = at;
  }
  return stretches;
}

/** Whether most of the labels beside the values leave space in their column, as lines of prose do not. */
function areLabels(labels: readonly TextBox[], { y0, y1 }: Band): boolean {
  const side = boundingBox(labels);
  const beside = labels.filter((box) => box.y1 > y0 && box.y0 < y1);
  return median(beside.map((box) => box.x1)) - side.x0 < (side.x1 - side.x0) * MAX_LABEL;
}

/** Minimum share of the lines that end with a value if the values form their own column, aligned at its right edge. */
const MIN_ALIGNED = 0.8;

/** Whether the lines end with values below each other: amounts after words that explain their calculation. */
function haveAmounts(rows: readonly Row[], size: number): boolean {
  const ends = rows.flatMap(({ end }) => (end === null ? [] : [end]));
  const edge = median(ends);
  return ends.filter((end) => Math.abs(end - edge) < size * 0.3).length >= rows.length * MIN_ALIGNED;
}

/** The band in which one side has numbers on the lines of the other: values beside their labels. */
function valuesBand(labels: readonly TextBox[], values: readonly TextBox[], size: number): Band | null {
  const rows = sharedRows(labels, values, size);
  const bands = stretchesOfValues(rows, size).flatMap((stretch): (Band & { count: number })[] => {
    const right = stretch.filter((row) => row.right);
    const labelled = right.map((row) => hasLabel(rows, rows.indexOf(row), size));
    const shared = labelled.filter(Boolean).length;
    const numbers = right.reduce((sum, row) => sum + row.numbers, 0);
    const length = right.reduce((sum, row) => sum + row.length, 0);
    const band = { y0: stretch[0]!.y - size, y1: stretch.at(-1)!.y + size * 0.5 };
    // a wide label may span the gap between the sides, and sums at the end have their labels beside them
    const isShared = shared >= MIN_VALUES && shared >= (labelled.lastIndexOf(true) + 1) * 0.5;
    const isMost = right.length >= rows.filter((row) => row.right).length * 0.5;
    const isBand =
      numbers >= length * MIN_NUMBERS
        ? isMost || areLabels(labels, band)
        : haveAmounts(right, size) && areLabels(labels, band);
    return isShared && isBand ? [{ ...band, count: right.length }] : [];
  });
  return bands.toSorted((a, b) => b.count - a.count)[0] ?? null;
}

const stepsOf = (rows: readonly Row[]): number[] => rows.slice(1).map((one, index) => one.y - rows[index]!.y);

/** The smallest step that is not an exception, such as the step between a heading and its text. */
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
  // of one side, because lines of two prose columns may alternate
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

/** The band of a table with cells on both sides; null if there is none. */
export function tableBand(before: readonly TextBox[], after: readonly TextBox[]): Band | null {
  if (before.length < MIN_VALUES || after.length < MIN_VALUES) return null;
  const size = median([...before, ...after].map(height)) || 1;
  return valuesBand(before, after, size) ?? valuesBand(after, before, size) ?? rowsBand(before, after, size);
}
