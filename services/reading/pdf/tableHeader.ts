import { overlap } from "./geometry.ts";
import { type Line, lineText, splitCells } from "./lines.ts";
import { columnAt } from "./tableCells.ts";
import { cutRun, type TextRun } from "./runs.ts";

/** Maximum lines above a table that may be headers over several of its columns. */
const MAX_LINES = 4;
/** Maximum distance to the line below, as a multiple of the text's size. */
const MAX_STEP = 2.2;

/** Maximum distance of a name from the edge or the middle of its column, as a multiple of the text's size. */
const MAX_MISALIGNED = 0.5;

interface Extent {
  x0: number;
  x1: number;
}

const extentOf = (runs: readonly TextRun[]): Extent => ({ x0: runs[0]!.x0, x1: runs.at(-1)!.x1 });

/** The lines directly above a table that are above its columns but not above its labels, from top to bottom. */
export function linesAbove(lines: readonly Line[], first: Line, gaps: readonly number[]): Line[] {
  const found: Line[] = [];
  let below = first;
  for (const line of lines.toReversed()) {
    const near = below.baseline - line.baseline < line.size * MAX_STEP;
    if (!near || found.length >= MAX_LINES || line.runs[0]!.x0 < gaps[0]! - line.size * 0.5) break;
    found.unshift(line);
    below = line;
  }
  return found;
}

/** The line directly above a framed table if its texts are above the columns: a header above the first rule. */
export function lineAbove(lines: readonly Line[], first: Line, gaps: readonly number[]): Line[] {
  const line = lines.findLast((one) => one.baseline < first.baseline);
  if (line === undefined || first.baseline - line.baseline > line.size * (MAX_STEP + 1)) return [];
  const columns = splitCells(line)
    .map(extentOf)
    .map(({ x0, x1 }) => [columnAt(gaps, x0 + 1), columnAt(gaps, x1 - 1)]);
  const single = columns.every(([from, to], index) => from === to && from !== columns[index - 1]?.[0]);
  return single && columns.length >= Math.max(2, gaps.length) ? [line] : [];
}

/** The columns below a header text: those that it overlaps, or all columns on which it is centered. */
function columnsUnder(
  text: Extent,
  texts: readonly Extent[],
  columns: readonly Extent[],
  gaps: readonly number[],
): number[] {
  const middle = (text.x0 + text.x1) / 2;
  const rest = columns.map((_, at) => at).slice(1);
  const mine = rest.filter((at) => {
    const center = (columns[at]!.x0 + columns[at]!.x1) / 2;
    const distance = Math.abs(center - middle);
    return texts.every((other) => distance <= Math.abs(center - (other.x0 + other.x1) / 2));
  });
  const overlapped = columns.flatMap((column, at) => (overlap(text.x0, text.x1, column.x0, column.x1) > 0 ? [at] : []));
  const [from, to] = [columns[mine[0] ?? 0]!, columns[mine.at(-1) ?? 0]!];
  const centered = Math.abs((from.x0 + to.x1) / 2 - middle) < (to.x1 - from.x0) * 0.15;
  if (mine.length > 1 && centered && !overlapped.includes(0)) return mine;
  return overlapped.length > 0 ? overlapped : [columnAt(gaps, middle)];
}

/** The extent without trailing spaces, which a part of a cut run contains. */
function inkOf(runs: readonly TextRun[]): Extent {
  const { x0, x1, text } = runs.at(-1)!;
  const spaces = text.length - text.trimEnd().length;
  return { x0: runs[0]!.x0, x1: x1 - (spaces * (x1 - x0)) / Math.max(1, text.length) };
}

/** The left edge, the right edge and the middle. */
const marksOf = ({ x0, x1 }: Extent): number[] => [x0, x1, (x0 + x1) / 2];

/** Whether all texts are aligned with their columns in the same way. */
const areAligned = (texts: readonly (readonly [column: Extent, text: Extent])[], size: number): boolean =>
  [0, 1, 2].some((mark) =>
    texts.every(([column, text]) => Math.abs(marksOf(column)[mark]! - marksOf(text)[mark]!) < size * MAX_MISALIGNED),
  );

/** The parts of a text if it can be cut at these places into names that are aligned with their columns, such as dates and years. */
function alignedParts(
  cell: readonly TextRun[],
  columns: readonly Extent[],
  size: number,
  places: number[],
): TextRun[][] | null {
  const parts = Map.groupBy(
    cell.flatMap((run) => cutRun(run, places)),
    (run) => columnAt(places, (run.x0 + run.x1) / 2),
  );
  const texts = [...parts].map(([column, runs]) => [columns[column]!, inkOf(runs)] as const);
  const areNames = [...parts.values()].every((runs) => runs.some(({ text }) => /\d/.test(text)));
  return areNames && areAligned(texts, size) ? [...parts.values()] : null;
}

/** The texts of a header's line. Names close together are separated where a column ends or begins. */
function headerCells(line: Line, columns: readonly Extent[]): TextRun[][] {
  const space = line.size * 0.2;
  const [ends, starts] = [
    columns.slice(0, -1).map(({ x1 }) => x1 + space),
    columns.slice(1).map(({ x0 }) => x0 - space),
  ];
  return splitCells(line).flatMap(
    (cell) => alignedParts(cell, columns, line.size, ends) ?? alignedParts(cell, columns, line.size, starts) ?? [cell],
  );
}

/** The header of a table from its lines: a text over several columns belongs to each of them, before a slash. */
export function headerTexts(lines: readonly Line[], columns: readonly Extent[], gaps: readonly number[]): string[] {
  const header = columns.map(() => "");
  let wide = new Set<number>();
  for (const line of lines) {
    const texts = headerCells(line, columns);
    const extents = texts.map(extentOf);
    const next = new Set<number>();
    for (const [index, runs] of texts.entries()) {
      const under = columnsUnder(extents[index]!, extents, columns, gaps);
      for (const column of under) {
        const separator = header[column] === "" ? "" : wide.has(column) ? " / " : "\n";
        header[column] += separator + lineText(line, runs);
        if (under.length > 1) next.add(column);
      }
    }
    wide = new Set([...wide, ...next]);
  }
  return header;
}
