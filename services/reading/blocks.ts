/* A light scan of Markdown for where it may be cut: no parser, one pass over the lines, so that 50 MB take seconds. */

/** A piece of Markdown that stays whole, half open; only white space stands between it and the next. */
export interface Block {
  kind: "heading" | "paragraph" | "item" | "code" | "row";
  start: number;
  end: number;
  /** 1 to 6, of a heading. */
  level?: number;
  /** Of a row of a table: where the table's header is. */
  header?: Range;
}

interface Range {
  start: number;
  end: number;
}

interface Line extends Range {
  /** Its first characters: more does not tell what kind it is. */
  text: string;
  blank: boolean;
}

/** What the lines so far have begun. */
type Begun =
  | (Range & { kind: "paragraph"; lastLine: Line })
  | (Range & { kind: "item"; indent: number; fence: string | undefined; blank: boolean })
  | (Range & { kind: "code"; fence: string })
  | (Range & { kind: "table"; header: Range });

const SEEN = 1_000;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[^`]*$/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
/** What begins a list in the middle of a paragraph: a line that is wrapped before `1986.` does not. */
const INTERRUPTING_ITEM = /^[ \t]*(?:[-*+]|1[.)])[ \t]/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const DELIMITER = /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*:?-*:?[ \t]*$/;

/** The blocks between two offsets, in order. */
export function* scanBlocks(markdown: string, from: number, to: number): Generator<Block> {
  let begun: Begun | undefined;
  for (let line = lineAt(markdown, from, to); line; line = lineAt(markdown, line.end + 1, to)) {
    if (begun && goesOn(begun, line)) {
      if (begun.kind === "table") yield { kind: "row", start: line.start, end: line.end, header: begun.header };
      else if (begun.kind !== "item" || !begun.blank) begun.end = line.end;
      if (begun.kind === "code" && closes(begun.fence, line)) {
        yield ended(begun);
        begun = undefined;
      }
      continue;
    }
    if (begun?.kind === "paragraph" && UNDERLINE.test(line.text)) {
      yield { kind: "heading", start: begun.start, end: line.end, level: line.text.includes("=") ? 1 : 2 };
      begun = undefined;
      continue;
    }
    if (begun?.kind === "paragraph" && headerEnds(begun, line)) {
      const header = { start: begun.lastLine.start, end: line.end };
      if (begun.start < header.start) yield { kind: "paragraph", start: begun.start, end: header.start - 1 };
      yield { kind: "row", ...header };
      begun = { kind: "table", ...header, header };
      continue;
    }
    if (begun && begun.kind !== "table") yield ended(begun);
    const level = HEADING.exec(line.text)?.[1]?.length;
    if (level) yield { kind: "heading", start: line.start, end: line.end, level };
    begun = level || line.blank ? undefined : begin(line);
  }
  if (begun && begun.kind !== "table") yield ended(begun);
}

const lineAt = (markdown: string, start: number, to: number): Line | undefined => {
  if (start >= to) return undefined;
  const found = markdown.indexOf("\n", start);
  const end = found === -1 || found > to ? to : found;
  const text = markdown.slice(start, Math.min(end, start + SEEN)).trimEnd();
  const blank = text === "" && (end <= start + SEEN || markdown.slice(start, end).trim() === "");
  return { start, end, text, blank };
};

const indentOf = (line: Line): number => line.text.length - line.text.trimStart().length;
const fenceOf = (line: Line): string | undefined => FENCE.exec(line.text)?.[1];

const begin = (line: Line): Begun => {
  const range = { start: line.start, end: line.end };
  const fence = fenceOf(line);
  if (ITEM.test(line.text) && !RULE.test(line.text))
    return { kind: "item", ...range, indent: indentOf(line), fence, blank: false };
  return fence ? { kind: "code", ...range, fence } : { kind: "paragraph", ...range, lastLine: line };
};

/** Whether the line still belongs to what was begun. Notes what later lines of it depend on. */
const goesOn = (begun: Begun, line: Line): boolean => {
  if (begun.kind === "code") return true;
  if (begun.kind === "item") return itemGoesOn(begun, line);
  if (line.blank || HEADING.test(line.text) || RULE.test(line.text) || fenceOf(line)) return false;
  if (begun.kind === "table") return !ITEM.test(line.text);
  if (INTERRUPTING_ITEM.test(line.text) || UNDERLINE.test(line.text) || headerEnds(begun, line)) return false;
  begun.lastLine = line;
  return true;
};

const itemGoesOn = (item: Extract<Begun, { kind: "item" }>, line: Line): boolean => {
  if (item.fence) {
    item.blank = false;
    if (closes(item.fence, line)) item.fence = undefined;
    return true;
  }
  if (line.blank) return (item.blank = true);
  const inside = indentOf(line) > item.indent + 1;
  if (!inside) {
    if (item.blank || ITEM.test(line.text) || HEADING.test(line.text) || RULE.test(line.text)) return false;
    if (fenceOf(line)) return false;
  }
  item.blank = false;
  item.fence = fenceOf(line);
  return true;
};

const closes = (fence: string, line: Line): boolean => {
  const text = line.text.trim();
  return text.startsWith(fence) && text === fence[0]!.repeat(text.length);
};

/** Whether the line is the rule below the header of a table, which the paragraph's last line is then. */
const headerEnds = ({ lastLine }: { lastLine: Line }, line: Line): boolean =>
  lastLine.text.includes("|") && DELIMITER.test(line.text);

const ended = ({ kind, start, end }: Exclude<Begun, { kind: "table" }>): Block => ({ kind, start, end });
