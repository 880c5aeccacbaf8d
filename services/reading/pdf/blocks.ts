import type { Table } from "./ruledTables.ts";
import { median } from "./geometry.ts";
import { CAPTION, DOT_LEADERS, LIST_MARKER, BIBLIOGRAPHY_ENTRY } from "./patterns.ts";
import type { TextLine } from "./textLine.ts";

export type Block =
  | { kind: "text"; lines: TextLine[] }
  /** From the document's own tags. */
  | { kind: "heading"; level: number; lines: TextLine[] }
  /** `depth`: larger for a deeper indent. `marker` null: the text starts with it. */
  | { kind: "item"; depth: number; marker: string | null; lines: TextLine[] }
  | { kind: "code"; lines: TextLine[] }
  | { kind: "table"; rows: string[][] }
  | { kind: "figure"; alt: string };

export type TextBlock = Extract<Block, { lines: TextLine[] }>;

export const hasLines = (block: Block): block is TextBlock => "lines" in block;

export const isTable = (part: TextLine | Table): part is Table => "rows" in part;

const isItem = (line: TextLine): boolean => line.bullet || LIST_MARKER.test(line.raw);

interface Column {
  left: number;
  right: number;
  /** Usual distance of baselines for text of this size, in points. */
  leading(size: number): number;
}

const sizeKey = (size: number): number => Math.round(size);

const measureColumn = (lines: readonly TextLine[]): Column => {
  const steps = new Map<number, number[]>();
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    const step = line.baseline - (before?.baseline ?? Infinity);
    if (before === undefined || sizeKey(line.size) !== sizeKey(before.size) || step <= 0 || step > line.size * 2)
      continue;
    const same = steps.get(sizeKey(line.size)) ?? [];
    same.push(step);
    steps.set(sizeKey(line.size), same);
  }
  const usual = new Map([...steps].map(([size, found]) => [size, Math.min(median(found), size * 1.9)]));
  return {
    left: Math.min(...lines.map((line) => line.x0)),
    right: Math.max(...lines.map((line) => line.x1)),
    leading: (size) => usual.get(sizeKey(size)) ?? size * 1.2,
  };
};

const isCentered = (line: TextLine, column: Column): boolean => {
  const [left, right] = [line.x0 - column.left, column.right - line.x1];
  return left > line.size * 1.5 && Math.abs(left - right) < line.size * 2;
};

/** Whether the previous line ended although the next word would have fitted. */
const endsEarly = (before: TextLine, line: TextLine, column: Column): boolean => {
  const space = line.raw.indexOf(" ");
  const word = space < 0 ? line.raw.length : space;
  const wide = (word + 2) * ((line.x1 - line.x0) / Math.max(1, line.raw.length));
  return before.x1 + wide < column.right - line.size * 0.5;
};

/** Whether a line starts a new block after the open one. */
function startsBlock(open: readonly TextLine[], line: TextLine, next: TextLine | undefined, column: Column): boolean {
  const before = open.at(-1)!;
  const first = open[0]!;
  const step = line.baseline - before.baseline;
  const leading = column.leading(line.size);
  if (line.mono !== before.mono && !continuesInCode(before, line, step, column)) return true;
  if (line.mono && first.mono) return step > leading * 2.5;
  if (line.isField || before.isField) return true;
  if (step < -line.size || step > Math.max(leading * 1.3, line.size * 1.15)) return true;
  if (isItem(line) || BIBLIOGRAPHY_ENTRY.test(line.raw) || CAPTION.test(line.raw)) {
    const inSentence = /\p{Ll}[-‐]$|[\p{L}\p{N}][–,]$/u.test(before.raw) && !endsEarly(before, line, column);
    return line.bullet || isItem(first) || !inSentence;
  }
  if (
    Math.abs(line.size - before.size) > 0.08 * before.size ||
    (line.bold !== before.bold && !continuesInBold(before, line))
  )
    return true;
  if (DOT_LEADERS.test(before.raw)) return true;
  if (BIBLIOGRAPHY_ENTRY.test(first.raw))
    return line.x0 < first.x0 + line.size * 0.5 && endsEarly(before, line, column);
  if (isItem(first)) return leavesItem(open, line, column);
  const indent = line.x0 - before.x0;
  const axis =
    Math.abs(line.x0 + line.x1 - before.x0 - before.x1) < line.size * 0.6 && Math.abs(indent) > line.size * 0.7;
  if (axis || (isCentered(line, column) && isCentered(before, column))) return false;
  if (indent > line.size * 0.7) {
    const aligned = next !== undefined && Math.abs(next.x0 - line.x0) < line.size * 0.4;
    const hanging = open.length === 1 && (aligned || !/[.!?:”"]$/.test(before.raw));
    return !hanging || endsEarly(before, line, column);
  }
  if (indent < -line.size * 0.7 && open.length > 1) return true;
  return endsEarly(before, line, column) && /[.!?:;)"”’\d]$/.test(before.raw);
}

/** A line of a paragraph may consist of code. */
const continuesInCode = (before: TextLine, line: TextLine, step: number, column: Column): boolean =>
  Math.abs(line.x0 - before.x0) < 1 &&
  step <= column.leading(line.size) * 1.15 &&
  !endsEarly(before, line, column) &&
  !/[.:]$/.test(before.raw);

/** An item's lines align with its text or, without a hanging indent, with its marker or its second line. */
const leavesItem = (open: readonly TextLine[], line: TextLine, column: Column): boolean => {
  const [first, second] = [open[0]!, open[1]];
  const isUnder = (x: number): boolean => Math.abs(line.x0 - x) < line.size * 0.5;
  if (isUnder(first.textStart)) return false;
  const isSecondUnder = isUnder(second?.x0 ?? first.x0);
  return endsEarly(open.at(-1)!, line, column) || (!isSecondUnder && second !== undefined && line.x0 < first.textStart);
};

/** A line of a paragraph may consist of bold text. */
const continuesInBold = (before: TextLine, line: TextLine): boolean =>
  /[,\p{Ll}]$/u.test(before.raw) && /^\p{Ll}/u.test(line.raw);

const toBlock = (lines: TextLine[]): Block => {
  const first = lines[0]!;
  if (first.mono) return { kind: "code", lines };
  if (isItem(first)) return { kind: "item", depth: first.x0, marker: null, lines };
  return { kind: "text", lines };
};

/** The paragraphs, items, code and tables of one column. */
export function toBlocks(parts: readonly (TextLine | Table)[]): Block[] {
  const blocks: Block[] = [];
  const lines = parts.filter((part): part is TextLine => !isTable(part));
  const column = measureColumn(lines);
  let open: TextLine[] = [];
  const close = (): void => {
    if (open.length > 0) blocks.push(toBlock(open));
    open = [];
  };
  for (const [index, part] of parts.entries()) {
    if (isTable(part)) {
      close();
      blocks.push({ kind: "table", rows: part.rows });
      continue;
    }
    const next = parts[index + 1];
    if (open.length > 0 && startsBlock(open, part, next === undefined || isTable(next) ? undefined : next, column))
      close();
    open.push(part);
  }
  close();
  return blocks;
}
