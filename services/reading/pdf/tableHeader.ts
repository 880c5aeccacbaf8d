import { overlap } from "./geometry.ts";
import { type Line, lineText, splitCells } from "./lines.ts";
import { columnAt } from "./tableCells.ts";
import type { Run } from "./runs.ts";

/** Lines above a table that may be headers over several of its columns. */
const MAX_LINES = 4;
/** Distance to the line below, as a multiple of the text's size. */
const MAX_STEP = 2.2;

interface Extent {
  x0: number;
  x1: number;
}

const extentOf = (runs: readonly Run[]): Extent => ({ x0: runs[0]!.x0, x1: runs.at(-1)!.x1 });

/** The lines right above a table that stand over its columns but not over its labels, from top to bottom. */
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

/** The line right above a framed table if its texts stand over the columns: the header above the first of the rules. */
export function lineAbove(lines: readonly Line[], first: Line, gaps: readonly number[]): Line[] {
  const line = lines.findLast((one) => one.baseline < first.baseline);
  if (line === undefined || first.baseline - line.baseline > line.size * (MAX_STEP + 1)) return [];
  const columns = splitCells(line)
    .map(extentOf)
    .map(({ x0, x1 }) => [columnAt(gaps, x0 + 1), columnAt(gaps, x1 - 1)]);
  const single = columns.every(([from, to], index) => from === to && from !== columns[index - 1]?.[0]);
  return single && columns.length >= Math.max(2, gaps.length) ? [line] : [];
}

/** The columns that a text of a header stands over: those that it overlaps, or all that it is centered on. */
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

/** The header of a table from its lines: a text over several columns belongs to each of them, before a slash. */
export function headerTexts(lines: readonly Line[], columns: readonly Extent[], gaps: readonly number[]): string[] {
  const header = columns.map(() => "");
  let wide = new Set<number>();
  for (const line of lines) {
    const texts = splitCells(line);
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
