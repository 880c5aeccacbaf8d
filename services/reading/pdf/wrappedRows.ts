import { median } from "./geometry.ts";
import { lineText } from "./lines.ts";
import { type CellLine, cellTexts } from "./tableCells.ts";

/** One row of a table: the lines over which its cells wrap. */
export type TableRow = CellLine[];

/** Rows are separated by a larger step between two lines than this multiple of the smallest one. */
export const ROW_STEP = 1.15;

const NUMBER = /^[\s$€£¥(±+–-]*\d[\d.,:/%\s)±–-]*[a-z%]{0,3}$/i;

export const isNumber = (text: string): boolean => NUMBER.test(text);

const isFilled = (one: CellLine, column: number): boolean => one.cells[column]!.length > 0;

const filledColumns = (one: CellLine): number[] => [...one.cells.keys()].filter((column) => isFilled(one, column));

/** The right edge of each column's text. */
const rightEdges = (lines: readonly CellLine[]): number[] =>
  (lines[0]?.cells ?? []).map((_, column) =>
    Math.max(...lines.filter((one) => isFilled(one, column)).map((one) => one.cells[column]!.at(-1)!.x1)),
  );

/** Whether the next line's first word would not have fitted into the cell, so that the text had to wrap. */
function isFull(above: CellLine, below: CellLine, column: number, right: number): boolean {
  const [last, first] = [above.cells[column]!.at(-1)!, below.cells[column]![0]!];
  const word = first.text.trimStart().split(" ", 1)[0]!.length;
  const wide = (word * (first.x1 - first.x0)) / Math.max(1, first.text.length);
  return last.x1 + wide + below.line.size * 0.2 > right;
}

const hasValues = (one: CellLine): boolean =>
  cellTexts(one).some((text, column) => column > 0 && isNumber(text) && text !== "");

/** Whether the line is a section name, which is a separate row. */
const isSection = (one: CellLine): boolean =>
  filledColumns(one).every((column) => column === 0) && lineText(one.line, one.cells[0]).endsWith(":");

/** A section name is set in another font than the labels below and above it. */
const haveSameFont = (above: CellLine, below: CellLine): boolean =>
  above.cells[0]!.at(-1)?.font === below.cells[0]![0]?.font;

/** Whether every cell of the line continues a cell above that had to wrap. */
const continuesAbove = (row: TableRow, below: CellLine, edges: readonly number[]): boolean => {
  const above = row.at(-1)!;
  const columns = filledColumns(below);
  return (
    columns.length <= Math.max(1, below.cells.length / 3) &&
    !hasValues(below) &&
    !isSection(below) &&
    (!columns.includes(0) || haveSameFont(above, below)) &&
    columns.every((column) => isFilled(above, column) && isFull(above, below, column, edges[column]!))
  );
};

/** Whether a row with only a label so far continues with this line, which contains the values. */
const endsLabel = (row: TableRow, below: CellLine, edges: readonly number[]): boolean => {
  const above = row.at(-1)!;
  const [only, ...others] = filledColumns(above);
  return (
    others.length === 0 &&
    only === 0 &&
    !isSection(above) &&
    haveSameFont(above, below) &&
    row.every((one) => filledColumns(one).length === 1) &&
    isFilled(below, 0) &&
    isFull(above, below, 0, edges[0]!)
  );
};

const stepsOf = (lines: readonly CellLine[]): number[] =>
  lines.slice(1).map((one, index) => one.line.baseline - lines[index]!.line.baseline);

/** Rows of lines that larger steps separate; null if the steps do not distinguish rows. */
function rowsBySteps(lines: readonly CellLine[], least: number): TableRow[] | null {
  const rows: TableRow[] = [];
  for (const [index, step] of [Number.POSITIVE_INFINITY, ...stepsOf(lines)].entries()) {
    if (step > least * ROW_STEP) rows.push([lines[index]!]);
    else rows.at(-1)!.push(lines[index]!);
  }
  const single = rows.filter((row) => row.length === 1).length;
  const full = rows.every((row) => row.filter(hasValues).length <= 1);
  // some rows must fill several columns, else the steps separate paragraphs
  const columns = median(rows.map((row) => new Set(row.flatMap(filledColumns)).size));
  return rows.length >= 3 && single < rows.length && full && columns >= 2 ? rows : null;
}

/** Maximum distance of lines that overlap in height, as a multiple of the text's size. */
export const OVERLAP_STEP = 0.75;

/** Whether the lines are beside each other, such as values in the middle of a label of two lines. */
const isBeside = (above: CellLine, below: CellLine, size: number): boolean =>
  below.line.baseline - above.line.baseline < size * OVERLAP_STEP &&
  filledColumns(below).every((column) => !isFilled(above, column));

/** Lines beside each other, which form one row. */
function linesBeside(lines: readonly CellLine[], size: number): TableRow[] {
  const found: TableRow[] = [];
  for (const one of lines) {
    const before = found.at(-1);
    if (before !== undefined && isBeside(before.at(-1)!, one, size)) before.push(one);
    else found.push([one]);
  }
  return found;
}

/** The rows of a table. A line with continued cells belongs to the row above, or to the row below whose label it begins. */
export function groupRows(lines: readonly CellLine[]): TableRow[] {
  const size = median(lines.map((one) => one.line.size));
  const least = Math.min(...stepsOf(lines).filter((step) => step >= size * 0.9));
  const apart = least < size * 1.6 ? rowsBySteps(lines, least) : null;
  if (apart !== null) return apart;
  const edges = rightEdges(lines);
  const rows: TableRow[] = [];
  for (const beside of linesBeside(lines, size)) {
    const [one, ...others] = beside as [CellLine, ...CellLine[]];
    const row = rows.at(-1);
    const step = one.line.baseline - (row?.at(-1)!.line.baseline ?? Number.NEGATIVE_INFINITY);
    const joins = row !== undefined && others.length === 0 && step <= Math.min(least * ROW_STEP, size * 1.7);
    if (joins && (continuesAbove(row, one, edges) || endsLabel(row, one, edges))) row.push(one);
    else rows.push(beside);
  }
  return rows;
}

/** The texts of a row; the lines of a cell are joined by line breaks. */
export const rowTexts = (row: TableRow): string[] => {
  const lines = row.map(cellTexts);
  return lines[0]!.map((_, column) =>
    lines
      .map((texts) => texts[column]!)
      .filter((text) => text !== "")
      .join("\n"),
  );
};
