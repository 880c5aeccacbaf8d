import { type Box, height, overlap, width } from "./geometry.ts";
import { isRightToLeft, RIGHT_TO_LEFT } from "./readingDirection.ts";
import type { TextRun } from "./runs.ts";

/** Runs on one baseline, from left to right. */
export interface Line extends Box {
  runs: TextRun[];
  baseline: number;
  /** Size of the largest part of its text, in points. */
  size: number;
}

/** Minimum gap between cells, as a multiple of the text's size. */
const MAX_WORD_GAP = 0.6;

/** Words, numbers and parts of a formula, without the full stop at the end of a line. */
const isForeignWord = ({ text }: TextRun): boolean => !RIGHT_TO_LEFT.test(text) && /[\p{L}\p{N}]/u.test(text);

/** Orders the runs of a right-to-left line. Neighbours of another script, such as the parts of a formula, keep their order. */
function reverseRuns(runs: TextRun[]): void {
  runs.reverse();
  for (let start = 0; start < runs.length; start++) {
    if (!isForeignWord(runs[start]!)) continue;
    let end = start;
    for (let at = start; at < runs.length && !RIGHT_TO_LEFT.test(runs[at]!.text); at++) {
      const run = runs[at]!;
      if (at > start && runs[at - 1]!.x0 - run.x1 > run.size * MAX_WORD_GAP) break;
      if (isForeignWord(run)) end = at;
    }
    if (end === start) continue;
    const part = runs.slice(start, end + 1).toReversed();
    for (const [index, run] of part.entries()) runs[start + index] = run;
    start = end;
  }
}

const weight = ({ text, size }: TextRun): number => text.length * size;

const heaviest = (runs: readonly TextRun[]): TextRun => runs.reduce((a, b) => (weight(b) > weight(a) ? b : a));

/** `main`: the run whose position and size are those of the line. */
const toLine = (runs: TextRun[], main = heaviest(runs)): Line => {
  const box = { x0: Infinity, x1: -Infinity };
  for (const run of runs) {
    box.x0 = Math.min(box.x0, run.x0);
    box.x1 = Math.max(box.x1, run.x1);
  }
  runs.sort((a, b) => a.x0 - b.x0);
  if (isRightToLeft(runs.map((run) => run.text))) reverseRuns(runs);
  return { ...box, y0: main.y0, y1: main.y1, baseline: main.baseline, size: main.size, runs };
};

const isSameRow = (line: Box & Pick<Line, "baseline" | "size">, run: TextRun): boolean => {
  const shared = overlap(line.y0, line.y1, run.y0, run.y1);
  return (
    shared >= 0.5 * Math.min(height(run), height(line)) &&
    Math.abs(line.baseline - run.baseline) < 0.5 * Math.max(line.size, run.size)
  );
};

/** Whether each run of a line is beside or among the runs of a host. `gap`: the space that may be between them, in points. */
function areBeside(runs: readonly TextRun[], host: readonly TextRun[], gap: number): boolean {
  const sorted = host.toSorted((a, b) => a.x0 - b.x0);
  let end = -Infinity;
  const ends = sorted.map(({ x1 }) => (end = Math.max(end, x1)));
  return runs.every((run) => {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (run.x1 - sorted[middle]!.x0 > -gap) from = middle + 1;
      else to = middle;
    }
    return from > 0 && ends[from - 1]! - run.x0 > -gap;
  });
}

/** Merges superscripts and subscripts into the line they touch. */
function attachScripts(lines: Line[]): Line[] {
  const merged: Line[] = [];
  for (const [index, line] of lines.entries()) {
    const hosts = [lines[index - 1], lines[index + 1]].filter(
      (other): other is Line =>
        other !== undefined &&
        line.size < other.size * 0.85 &&
        width(line) < width(other) &&
        overlap(line.y0, line.y1, other.y0, other.y1) > 0.3 * height(line) &&
        areBeside(line.runs, other.runs, 0.4 * other.size),
    );
    const host = hosts.toSorted(
      (a, b) => overlap(line.y0, line.y1, b.y0, b.y1) - overlap(line.y0, line.y1, a.y0, a.y1),
    )[0];
    if (host === undefined) merged.push(line);
    else Object.assign(host, toLine([...host.runs, ...line.runs]));
  }
  return merged;
}

/** The lines of runs that are already in reading order. */
export function linesInOrder(runs: readonly TextRun[]): Line[] {
  const rows: { runs: TextRun[]; main: TextRun }[] = [];
  for (const run of runs) {
    const row = rows.at(-1);
    if (row === undefined || !isSameRow(row.main, run)) rows.push({ runs: [run], main: run });
    else {
      row.runs.push(run);
      row.main = heaviest([row.main, run]);
    }
  }
  return rows.map((row) => toLine(row.runs, row.main));
}

/** A line whose runs are not yet in order, because to sort them after each one takes too long. */
interface Row {
  runs: TextRun[];
  main: TextRun;
  /** The heaviest run, of equal ones the leftmost. */
  leftmost: TextRun;
}

const addToRow = (row: Row, run: TextRun): void => {
  row.runs.push(run);
  const heavier = weight(run) - weight(row.leftmost);
  row.main = heavier > 0 ? run : row.leftmost;
  if (heavier > 0 || (heavier === 0 && run.x0 < row.leftmost.x0)) row.leftmost = run;
};

/** The lines of one column, from top to bottom. */
export function groupLines(runs: readonly TextRun[]): Line[] {
  const rows: Row[] = [];
  for (const run of runs.toSorted((a, b) => a.baseline - b.baseline || a.x0 - b.x0)) {
    const row = rows.slice(-4).find(({ main }) => isSameRow(main, run));
    if (row === undefined) rows.push({ runs: [run], main: run, leftmost: run });
    else addToRow(row, run);
  }
  return attachScripts(rows.map((row) => toLine(row.runs, row.main)).toSorted((a, b) => a.baseline - b.baseline));
}

const SUPERSCRIPT: Record<string, string> = {
  0: "⁰",
  1: "¹",
  2: "²",
  3: "³",
  4: "⁴",
  5: "⁵",
  6: "⁶",
  7: "⁷",
  8: "⁸",
  9: "⁹",
};

/** The run's text, with raised digits as superscripts, because they do not belong to the previous word. */
export const markSuperscript = (run: TextRun, line: Line): string => {
  const isRaised = run.size < line.size * 0.85 && line.baseline - run.baseline > line.size * 0.15;
  if (!isRaised || !/^[\d, –-]+$/.test(run.text)) return run.text;
  return run.text.replace(/\d/g, (digit) => SUPERSCRIPT[digit]!);
};

/** Whether white space separates two consecutive runs of a line. `size`: of the line's text, in points. */
export const hasSpaceBetween = (before: TextRun, after: TextRun, size: number): boolean => {
  const gap = Math.max(after.x0 - before.x1, before.x0 - after.x1);
  // the file stores white space before the run on the right, in whichever order they are read
  const { spaced } = after.x0 >= before.x0 ? after : before;
  return gap > 0.25 * size || (spaced && gap > 0.08 * size);
};

/** The text of a line. */
export function lineText(line: Line, runs: readonly TextRun[] = line.runs): string {
  let text = "";
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (before !== undefined && hasSpaceBetween(before, run, line.size)) text += " ";
    text += markSuperscript(run, line);
  }
  return text.replace(/ {2,}/g, " ").trim();
}

/** The runs of a line, split at gaps as wide as those between table cells. */
export const splitCells = (line: Line): TextRun[][] => {
  const cells: TextRun[][] = [];
  for (const run of line.runs) {
    const cell = cells.at(-1);
    const before = cell?.at(-1);
    if (cell !== undefined && before !== undefined && run.x0 - before.x1 < line.size * 0.9) cell.push(run);
    else cells.push([run]);
  }
  return cells;
};
