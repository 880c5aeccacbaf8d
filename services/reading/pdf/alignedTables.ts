import { hasValueCells, isRowLike, readBorderlessTable, type BorderlessTable } from "./borderlessTable.ts";
import { boundingBox, median, overlap, width } from "./geometry.ts";
import { isNumber, OVERLAP_STEP, ROW_STEP } from "./wrappedRows.ts";
import type { Line } from "./lines.ts";
import { linesAbove } from "./tableHeader.ts";
import type { Table } from "./ruledTables.ts";
import { readSparseTable } from "./sparseTable.ts";

/** Maximum single-text lines between two rows: wrapped cells or section names. The first value that gives a table is used. */
const BETWEEN_ROWS = [4, 1];
/** Lines of one table; more are several tables. */
const MAX_LINES = 400;
/** Distance of two lines of a table, as a multiple of the text's size. */
const MAX_STEP = 3;
/** Distance of a header's lines, as a multiple of that of the rows. */
const MAX_HEADER_STEP = 1.8;
/** Space between a label and a value beside it, as a multiple of the text's size. */
const MIN_SPACE = 0.5;
/** Share of numbers beside the labels in a table of typewriter text; code has fewer. */
const MIN_NUMBERS = 0.4;

/** The end of the rows that start at `from`, with at most `between` other lines between two of them. */
function endOfRows(lines: readonly Line[], rowLike: readonly boolean[], from: number, between: number): number {
  let last = from;
  for (let at = from + 1; at < lines.length && at - from < MAX_LINES; at++) {
    if (at - last > between + 1 || lines[at]!.baseline - lines[at - 1]!.baseline >= lines[from]!.size * MAX_STEP) break;
    if (rowLike[at]) last = at;
  }
  return endOfWrapped(lines, from, last) + 1;
}

/** The last line of the cells that wrap in the last row: lines as close as those within rows, where rows stand further apart. */
function endOfWrapped(lines: readonly Line[], from: number, last: number): number {
  const step = (at: number): number => lines[at]!.baseline - lines[at - 1]!.baseline;
  const steps = lines.slice(from + 1, last + 1).map((_, index) => step(from + 1 + index));
  const least = Math.min(...steps.filter((one) => one >= lines[from]!.size * 0.9));
  if (Math.max(...steps) <= least * ROW_STEP) return last;
  const widest = width(boundingBox(lines.slice(from, last + 1))) / 2;
  let end = last;
  while (end + 1 < lines.length && step(end + 1) <= least * 1.05 && width(lines[end + 1]!) < widest) end++;
  return end;
}

/** Whether the first lines stand apart from a header and its values: they are something else. */
function startsBeforeTable(lines: readonly Line[]): boolean {
  const first = lines.findIndex(hasValueCells);
  const steps = lines.slice(1).map((line, index) => line.baseline - lines[index]!.baseline);
  const usual = median(steps.slice(Math.max(0, first - 1)).filter((step) => step >= lines[0]!.size * 0.9));
  return steps.slice(0, Math.max(0, first - 1)).some((step) => step > usual * MAX_HEADER_STEP);
}

const isCodeTable = ({ rows }: Table): boolean => {
  const cells = rows.flatMap((row) => row.slice(1)).filter((cell) => cell !== "");
  return cells.filter(isNumber).length < cells.length * MIN_NUMBERS;
};

/** Whether another line stands beside this one at half its height: a value in the middle of a label of two lines. */
const isBeside = (line: Line, other: Line | undefined): boolean =>
  other !== undefined &&
  Math.abs(line.baseline - other.baseline) < line.size * OVERLAP_STEP &&
  overlap(line.x0, line.x1, other.x0, other.x1) < -line.size * MIN_SPACE;

/** The lines of a text column, with aligned rows as tables. */
export function alignedTables(lines: readonly Line[], isCode: (line: Line) => boolean): (Line | Table)[] {
  const rowLike = lines.map(
    (line, at) => isRowLike(line) || isBeside(line, lines[at + 1]) || isBeside(line, lines[at - 1]),
  );
  const out: (Line | Table)[] = [];
  for (let i = 0; i < lines.length; ) {
    const found = rowLike[i] ? tableAt(lines, rowLike, { from: i, before: linesBefore(out) }, isCode) : null;
    if (found === null) out.push(lines[i++]!);
    else {
      out.splice(out.length - found.heads, found.heads, found.table);
      i += found.used;
    }
  }
  return out;
}

/** The lines since the last table. */
const linesBefore = (parts: readonly (Line | Table)[]): Line[] =>
  parts
    .slice(parts.findLastIndex((part) => "rows" in part) + 1)
    .slice(-4)
    .filter((part): part is Line => !("rows" in part));

/** Finds the lines of a header above the given ones. */
type FindAbove = (gaps: readonly number[]) => Line[];

function tableAt(
  lines: readonly Line[],
  rowLike: readonly boolean[],
  { from, before }: { from: number; before: readonly Line[] },
  isCode: (line: Line) => boolean,
): (BorderlessTable & { heads: number }) | null {
  for (const between of BETWEEN_ROWS) {
    const rows = lines.slice(from, endOfRows(lines, rowLike, from, between));
    if (rows.length < 3 || startsBeforeTable(rows)) continue;
    const isCodeRows = rows.every(isCode);
    const read = (way: (above: FindAbove) => BorderlessTable | null): (BorderlessTable & { heads: number }) | null => {
      let heads = 0;
      const found = way((gaps) => {
        const above = linesAbove(before, rows[0]!, gaps);
        heads = above.length;
        return above;
      });
      return found === null || (isCodeRows && isCodeTable(found.table)) ? null : { ...found, heads };
    };
    const found = read((above) => readBorderlessTable(rows, false, above));
    const sparse = read((above) => readSparseTable(rows, above));
    if (sparse !== null && sparse.gaps.length > (found?.gaps.length ?? 0)) return sparse;
    if (found !== null) return found;
  }
  return null;
}
