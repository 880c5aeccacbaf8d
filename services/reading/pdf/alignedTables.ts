import { trimTable, type Table } from "./ruledTables.ts";
import { boundingBox, type Box, height, median, overlap } from "./geometry.ts";
import { splitCells, type Line, groupLines, lineText } from "./lines.ts";
import { LEADERS, MARKER } from "./patterns.ts";
import type { Rule } from "./rules.ts";
import { cutRun, type Run } from "./runs.ts";

/** Share of a table's lines that may span a gap between its columns, as headers over several columns do. */
const MAX_SPANNING = 0.15;

/** The middles of the gaps between columns, in points. `minWidth`: of a gap, in points. */
function findGaps(lines: readonly Line[], minWidth: number): number[] {
  const box = boundingBox(lines);
  const steps = Math.min(5_000, Math.ceil(box.x1 - box.x0) + 1);
  // lines with text at each point of the width
  const covered = new Int32Array(steps + 2);
  for (const line of lines) {
    for (const run of line.runs) {
      const to = Math.min(steps, Math.ceil(run.x1 - box.x0));
      for (let x = Math.max(0, Math.floor(run.x0 - box.x0)); x < to; x++) covered[x]!++;
    }
  }
  const gaps: number[] = [];
  const free = (x: number): boolean => covered[x]! <= Math.floor(lines.length * MAX_SPANNING);
  for (let x = 0; x < steps; x++) {
    if (!free(x)) continue;
    const from = x;
    while (x < steps && free(x)) x++;
    if (from > 0 && x < steps && x - from >= minWidth) gaps.push(box.x0 + (from + x) / 2);
  }
  return gaps;
}

const cellRows = (lines: readonly Line[], gaps: readonly number[]): string[][] => {
  const columnOf = (run: Run): number => gaps.filter((gap) => (run.x0 + run.x1) / 2 > gap).length;
  return lines.map((line) => {
    const cells: Run[][] = Array.from({ length: gaps.length + 1 }, () => []);
    for (const run of line.runs.flatMap((one) => cutRun(one, gaps))) cells[columnOf(run)]!.push(run);
    return cells.map((cell) => lineText(line, cell));
  });
};

/** A line with an empty first cell and little text continues the row above. */
function mergeWrappedRows(rows: readonly string[][], lines: readonly Line[]): string[][] {
  const folded: string[][] = [];
  const steps = lines.slice(1).map((line, index) => line.baseline - lines[index]!.baseline);
  const usualStep = median(steps);
  for (const [index, row] of rows.entries()) {
    const above = folded.at(-1);
    const filled = row.filter((cell) => cell !== "").length;
    const continuesRow =
      above !== undefined &&
      folded.length > 1 &&
      row[0] === "" &&
      filled <= Math.max(1, row.length / 3) &&
      steps[index - 1]! <= usualStep * 1.05 &&
      row.every((cell, column) => cell === "" || (above[column] !== "" && !/^[\d.,%()+–-]+$/.test(cell)));
    if (continuesRow) for (const [column, cell] of row.entries()) above[column] = `${above[column]!} ${cell}`.trim();
    else folded.push([...row]);
  }
  return folded;
}

const isNumber = (cell: string): boolean => /^[\s$€£(±+–-]*\d[\d.,:/%\s)±–-]*[a-z%]{0,3}$/i.test(cell);

/** Whether rows look like a table even without drawn lines. */
function looksLikeTable(rows: readonly string[][]): boolean {
  const columns = rows[0]?.length ?? 0;
  const filled = rows.flat().filter((cell) => cell !== "");
  if (rows.length < 3 || columns < 2 || filled.length < rows.length * columns * 0.5) return false;
  if (rows.filter((row) => MARKER.test(`${row[0]!} x`) && row[0]!.length < 5).length > rows.length / 2) return false;
  const fullRows = rows.filter((row) => row.filter((cell) => cell !== "").length >= Math.max(2, columns - 1)).length;
  if (fullRows < rows.length * 0.5) return false;
  const words = median(filled.map((cell) => cell.split(" ").length));
  const numbers = filled.filter(isNumber).length / filled.length;
  return columns >= 3 ? words <= 6 : words <= 4 && numbers >= 0.25;
}

/** Null if the lines are not a table. `isFramed`: between drawn lines, where less evidence is enough. */
function toTable(lines: readonly Line[], isFramed: boolean): Table | null {
  const size = median(lines.map((line) => line.size));
  const gaps = findGaps(lines, size * (isFramed ? 0.5 : 0.8));
  if (gaps.length === 0 || gaps.length > 60) return null;
  const rows = cellRows(lines, gaps);
  if (!isFramed && !looksLikeTable(rows)) return null;
  if (rows.flat().some((cell) => cell.split(" ").length > 25)) return null;
  const rowsWithCells = rows.filter((row) => row.filter((cell) => cell !== "").length > 1).length;
  if (rowsWithCells < 2 || rowsWithCells < rows.length * 0.5) return null;
  const table = trimTable(mergeWrappedRows(rows, lines));
  return table === null ? null : { ...boundingBox(lines), rows: table };
}

const isRowLike = (line: Line): boolean => {
  const cells = splitCells(line);
  const text = lineText(line);
  return cells.length > 1 && !LEADERS.test(text) && !(cells.length === 2 && MARKER.test(text));
};

/** The lines of a text column, with aligned rows as tables. */
export function alignedTables(lines: readonly Line[], isCode: (line: Line) => boolean): (Line | Table)[] {
  const out: (Line | Table)[] = [];
  for (let i = 0; i < lines.length; ) {
    let end = i;
    let last = i;
    while (
      end < lines.length &&
      end - last < 2 &&
      (end === i || lines[end]!.baseline - lines[end - 1]!.baseline < lines[i]!.size * 3)
    ) {
      if (isRowLike(lines[end]!)) last = end;
      else if (end === i) break;
      end++;
    }
    const rows = lines.slice(i, isRowLike(lines[i]!) ? last + 1 : i);
    const table = rows.length >= 3 && !rows.every(isCode) ? toTable(rows, false) : null;
    if (table === null) out.push(lines[i++]!);
    else {
      out.push(table);
      i = last + 1;
    }
  }
  return out;
}

interface Frame extends Box {
  rules: number;
}

/** Stacked rules of the same width. The text between the first and the last may be a table as printers set it. */
function findFrames(across: readonly Rule[]): Frame[] {
  const found: Frame[] = [];
  for (const rule of across) {
    if (rule.to - rule.from < 60) continue;
    const home = found.find((frame) => Math.abs(frame.x0 - rule.from) < 4 && Math.abs(frame.x1 - rule.to) < 4);
    if (home === undefined) found.push({ x0: rule.from, x1: rule.to, y0: rule.at, y1: rule.at, rules: 1 });
    else {
      home.y1 = rule.at;
      home.rules++;
    }
  }
  return found.filter((frame) => frame.rules >= 2 && height(frame) > 12);
}

/** Tables with rules only above, below and under the header. */
export function framedTables(runs: readonly Run[], across: readonly Rule[]): { tables: Table[]; rest: Run[] } {
  const tables: Table[] = [];
  let rest = [...runs];
  for (const frame of findFrames(across)) {
    const inside = rest.filter(
      (run) =>
        overlap(run.x0, run.x1, frame.x0 - 3, frame.x1 + 3) > 0.9 * (run.x1 - run.x0) &&
        run.baseline > frame.y0 &&
        run.baseline - run.size * 0.5 < frame.y1,
    );
    const lines = groupLines(inside);
    if (lines.length < 2) continue;
    const table = toTable(lines, frame.rules >= 3);
    if (table === null) continue;
    const used = new Set(inside);
    tables.push({ ...table, x0: frame.x0, x1: frame.x1 });
    rest = rest.filter((run) => !used.has(run));
  }
  return { tables, rest };
}
