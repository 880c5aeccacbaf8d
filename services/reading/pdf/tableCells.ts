import { boundingBox } from "./geometry.ts";
import { type Line, lineText, splitCells } from "./lines.ts";
import { cutRun, type TextRun } from "./runs.ts";

/** A line of a table with its runs in columns. */
export interface CellLine {
  line: Line;
  cells: TextRun[][];
}

/** Maximum share of a table's lines that may span a gap between its columns, like headers over several columns. */
const MAX_SPANNING = 0.15;

/** The middle of the widest stretch with the fewest lines. */
function emptiest(covered: Int32Array, from: number, to: number): number {
  const least = Math.min(...covered.subarray(from, to));
  let [best, widest] = [from, 0];
  for (let x = from; x < to; x++) {
    const start = x;
    while (x < to && covered[x] === least) x++;
    if (x - start > widest) [best, widest] = [start, x - start];
  }
  return best + widest / 2;
}

/** The number of lines with text at each point of the width. */
function coverage(lines: readonly Line[], from: number, steps: number): Int32Array {
  const covered = new Int32Array(steps + 2);
  for (const line of lines) {
    for (const run of line.runs) {
      const to = Math.min(steps, Math.ceil(run.x1 - from));
      for (let x = Math.max(0, Math.floor(run.x0 - from)); x < to; x++) covered[x]!++;
    }
  }
  return covered;
}

/** The middles of the gaps between columns, in points, at the places that are free in the most lines of `all`. `minWidth`: of a gap, in points. */
export function findGaps(lines: readonly Line[], minWidth: number, all: readonly Line[] = lines): number[] {
  const box = boundingBox(lines);
  const steps = Math.min(5_000, Math.ceil(box.x1 - box.x0) + 1);
  const covered = coverage(lines, box.x0, steps);
  const everywhere = all === lines ? covered : coverage(all, box.x0, steps);
  const gaps: number[] = [];
  const free = (x: number): boolean => covered[x]! <= Math.floor(lines.length * MAX_SPANNING);
  for (let x = 0; x < steps; x++) {
    if (!free(x)) continue;
    const from = x;
    while (x < steps && free(x)) x++;
    if (from > 0 && x < steps && x - from >= minWidth) gaps.push(box.x0 + emptiest(everywhere, from, x));
  }
  return gaps;
}

export const columnAt = (gaps: readonly number[], x: number): number => gaps.filter((gap) => x > gap).length;

const crosses = (runs: readonly TextRun[], gaps: readonly number[]): boolean =>
  columnAt(gaps, runs[0]!.x0 + 1) !== columnAt(gaps, runs.at(-1)!.x1 - 1);

/** Assigns the runs of a line to columns. A line of one text that spans columns is assigned to the first of them. */
export function toCellLine(line: Line, gaps: readonly number[]): CellLine {
  const cells: TextRun[][] = Array.from({ length: gaps.length + 1 }, () => []);
  const texts = splitCells(line);
  if (texts.length === 1 && crosses(line.runs, gaps)) cells[columnAt(gaps, line.runs[0]!.x0 + 1)] = line.runs;
  else {
    for (const run of line.runs.flatMap((one) => cutRun(one, gaps)))
      cells[columnAt(gaps, (run.x0 + run.x1) / 2)]!.push(run);
  }
  return { line, cells };
}

export const cellTexts = ({ line, cells }: CellLine): string[] => cells.map((cell) => lineText(line, cell));

const SIGN = /^[$€£¥]$/;

/** The gaps, except those after columns that contain only currency signs. */
export function dropSignColumns(lines: readonly CellLine[], gaps: readonly number[]): number[] {
  return gaps.filter((_, column) => {
    const texts = lines.map((one) => lineText(one.line, one.cells[column])).filter((text) => text !== "");
    return texts.length === 0 || !texts.every((text) => SIGN.test(text));
  });
}
