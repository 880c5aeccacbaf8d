/* Finds where Markdown may be cut. One pass over the lines instead of a parser, so that 50 MB take seconds. */

/** A piece of Markdown that is never cut. Half open, in UTF-16 units; only white space separates it from the next. */
export interface Block {
  kind: "heading" | "paragraph" | "item" | "code" | "row";
  start: number;
  end: number;
  /** For a heading, its level from 1 to 6. */
  level?: number;
  /** For a table row, the range of the table's header. */
  header?: Range;
}

interface Range {
  start: number;
  end: number;
}

interface Line extends Range {
  /** The first characters of the line, which show its kind. */
  text: string;
  blank: boolean;
}

/** The open block, to which the next line may belong. */
type OpenBlock =
  | (Range & { kind: "paragraph"; lastLine: Line })
  | (Range & { kind: "item"; indent: number; fence: string | undefined; blank: boolean })
  | (Range & { kind: "code"; fence: string })
  | (Range & { kind: "table"; header: Range });

/** Maximum UTF-16 units of a line that are examined. */
const MAX_PREFIX = 1_000;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[^`]*$/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
/** A list item that can interrupt a paragraph. A wrapped line that starts with `1986.` cannot. */
const INTERRUPTING_ITEM = /^[ \t]*(?:[-*+]|1[.)])[ \t]/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const DELIMITER = /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*:?-*:?[ \t]*$/;

/** The blocks between two offsets, in order. */
export function* scanBlocks(markdown: string, from: number, to: number): Generator<Block> {
  let open: OpenBlock | undefined;
  for (let line = lineAt(markdown, from, to); line; line = lineAt(markdown, line.end + 1, to)) {
    if (open && continuesBlock(open, line)) {
      if (open.kind === "table") yield { kind: "row", start: line.start, end: line.end, header: open.header };
      else if (open.kind !== "item" || !open.blank) open.end = line.end;
      if (open.kind === "code" && closesFence(open.fence, line)) {
        yield toBlock(open);
        open = undefined;
      }
      continue;
    }
    if (open?.kind === "paragraph" && UNDERLINE.test(line.text)) {
      yield { kind: "heading", start: open.start, end: line.end, level: line.text.includes("=") ? 1 : 2 };
      open = undefined;
      continue;
    }
    if (open?.kind === "paragraph" && endsHeader(open, line)) {
      const header = { start: open.lastLine.start, end: line.end };
      if (open.start < header.start) yield { kind: "paragraph", start: open.start, end: header.start - 1 };
      yield { kind: "row", ...header };
      open = { kind: "table", ...header, header };
      continue;
    }
    if (open && open.kind !== "table") yield toBlock(open);
    const level = HEADING.exec(line.text)?.[1]?.length;
    if (level) yield { kind: "heading", start: line.start, end: line.end, level };
    open = level || line.blank ? undefined : startBlock(line);
  }
  if (open && open.kind !== "table") yield toBlock(open);
}

const lineAt = (markdown: string, start: number, to: number): Line | undefined => {
  if (start >= to) return undefined;
  const found = markdown.indexOf("\n", start);
  const end = found === -1 || found > to ? to : found;
  const text = markdown.slice(start, Math.min(end, start + MAX_PREFIX)).trimEnd();
  const blank = text === "" && (end <= start + MAX_PREFIX || markdown.slice(start, end).trim() === "");
  return { start, end, text, blank };
};

const indentWidth = (line: Line): number => line.text.length - line.text.trimStart().length;
const openingFence = (line: Line): string | undefined => FENCE.exec(line.text)?.[1];

const startBlock = (line: Line): OpenBlock => {
  const range = { start: line.start, end: line.end };
  const fence = openingFence(line);
  if (ITEM.test(line.text) && !RULE.test(line.text))
    return { kind: "item", ...range, indent: indentWidth(line), fence, blank: false };
  return fence ? { kind: "code", ...range, fence } : { kind: "paragraph", ...range, lastLine: line };
};

/** Whether the line belongs to the open block. Updates the state that later lines depend on. */
const continuesBlock = (begun: OpenBlock, line: Line): boolean => {
  if (begun.kind === "code") return true;
  if (begun.kind === "item") return continuesItem(begun, line);
  if (line.blank || HEADING.test(line.text) || RULE.test(line.text) || openingFence(line)) return false;
  if (begun.kind === "table") return !ITEM.test(line.text);
  if (INTERRUPTING_ITEM.test(line.text) || UNDERLINE.test(line.text) || endsHeader(begun, line)) return false;
  begun.lastLine = line;
  return true;
};

const continuesItem = (item: Extract<OpenBlock, { kind: "item" }>, line: Line): boolean => {
  if (item.fence) {
    item.blank = false;
    if (closesFence(item.fence, line)) item.fence = undefined;
    return true;
  }
  if (line.blank) return (item.blank = true);
  const inside = indentWidth(line) > item.indent + 1;
  if (!inside) {
    if (item.blank || ITEM.test(line.text) || HEADING.test(line.text) || RULE.test(line.text)) return false;
    if (openingFence(line)) return false;
  }
  item.blank = false;
  item.fence = openingFence(line);
  return true;
};

const closesFence = (fence: string, line: Line): boolean => {
  const text = line.text.trim();
  return text.startsWith(fence) && text === fence[0]!.repeat(text.length);
};

/** Whether the line is a table's delimiter row, which makes the paragraph's last line the table's header. */
const endsHeader = ({ lastLine }: { lastLine: Line }, line: Line): boolean =>
  lastLine.text.includes("|") && DELIMITER.test(line.text);

const toBlock = ({ kind, start, end }: Exclude<OpenBlock, { kind: "table" }>): Block => ({ kind, start, end });
