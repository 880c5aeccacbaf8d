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
    let end = start;
    for (let at = start; at < runs.length && !RIGHT_TO_LEFT.test(runs[at]!.text); at++) {
      const run = runs[at]!;
      if (at > start && runs[at - 1]!.x0 - run.x1 > run.size * MAX_WORD_GAP) break;
      if (isForeignWord(run)) end = at;
    }
    if (end === start || !isForeignWord(runs[start]!)) continue;
    const part = runs.slice(start, end + 1).toReversed();
    for (const [index, run] of part.entries()) runs[start + index] = run;
    start = end;
  }
}

const toLine = (runs: TextRun[]): Line => {
  const main = runs.reduce((a, b) => (b.text.length * b.size > a.text.length * a.size ? b : a));
  const box = { x0: Infinity, x1: -Infinity };
  for (const run of runs) {
    box.x0 = Math.min(box.x0, run.x0);
    box.x1 = Math.max(box.x1, run.x1);
  }
  runs.sort((a, b) => a.x0 - b.x0);
  if (isRightToLeft(runs.map((run) => run.text))) reverseRuns(runs);
  return { ...box, y0: main.y0, y1: main.y1, baseline: main.baseline, size: main.size, runs };
};

const isSameRow = (line: Line, run: TextRun): boolean => {
  const shared = overlap(line.y0, line.y1, run.y0, run.y1);
  return (
    shared >= 0.5 * Math.min(height(run), height(line)) &&
    Math.abs(line.baseline - run.baseline) < 0.5 * Math.max(line.size, run.size)
  );
};

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
        line.runs.every((run) => other.runs.some((one) => overlap(one.x0, one.x1, run.x0, run.x1) > -0.4 * other.size)),
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
  const rows: TextRun[][] = [];
  for (const run of runs) {
    const row = rows.at(-1);
    if (row !== undefined && isSameRow(toLine([...row]), run)) row.push(run);
    else rows.push([run]);
  }
  return rows.map(toLine);
}

/** The lines of one column, from top to bottom. */
export function groupLines(runs: readonly TextRun[]): Line[] {
  const rows: Line[] = [];
  for (const run of runs.toSorted((a, b) => a.baseline - b.baseline || a.x0 - b.x0)) {
    const row = rows.slice(-4).find((line) => isSameRow(line, run));
    if (row === undefined) rows.push(toLine([run]));
    else Object.assign(row, toLine([...row.runs, run]));
  }
  return attachScripts(rows.toSorted((a, b) => a.baseline - b.baseline));
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
