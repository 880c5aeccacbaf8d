import type { Element, ElementContent } from "hast";
import { NOTE_REFERENCE } from "../html/notes.ts";
import { element, isElement } from "../html/tree.ts";
import { joinBlocks } from "./joinBlocks.ts";

/* Runs and paragraphs of formats without a document tree (DOC, RTF), where each paragraph states its own role. */

/** Text in one style. */
export interface TextRun {
  text: string;
  bold?: boolean;
  italic?: boolean;
  strikethrough?: boolean;
  superscript?: boolean;
  code?: boolean;
  href?: string;
  /** A reference to the note with this id, instead of text. */
  note?: string;
  /** The phonetic reading above the text. */
  reading?: string;
  /** The text is an equation in TeX. */
  isMath?: boolean;
  /** The text is the description of a picture. */
  isPicture?: boolean;
  /** A line break instead of text. */
  isLineBreak?: boolean;
}

export interface Paragraph {
  kind: "p" | "pre" | "quote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6";
  runs: TextRun[];
  /** Set for a list item; the level counts from 0. `number`: as people see it, if known. */
  item?: { level: number; ordered: boolean; number?: number };
}

const hasSameStyle = (one: TextRun, other: TextRun): boolean =>
  one.bold === other.bold &&
  one.italic === other.italic &&
  one.strikethrough === other.strikethrough &&
  one.superscript === other.superscript &&
  one.code === other.code &&
  one.href === other.href;

const isText = (run: TextRun): boolean =>
  run.note === undefined && !run.isLineBreak && !run.isMath && !run.isPicture && run.reading === undefined;

/** Merges neighbouring runs of the same style. */
export const mergeRuns = (runs: TextRun[]): TextRun[] => {
  const found: TextRun[] = [];
  for (const run of runs) {
    const last = found.at(-1);
    if (last && isText(last) && isText(run) && hasSameStyle(last, run))
      found[found.length - 1] = { ...last, text: last.text + run.text };
    else found.push(run);
  }
  return found;
};

const toInline = (run: TextRun): ElementContent => {
  if (run.isLineBreak) return element("br");
  if (run.note !== undefined) return element(NOTE_REFERENCE, [], { id: run.note });
  if (run.isPicture) return element("img", [], { alt: run.text });
  if (run.isMath) return element("math", [element("annotation", [run.text], { encoding: "application/x-tex" })]);
  const marks = [
    run.code ? "code" : "",
    run.superscript ? "sup" : "",
    run.strikethrough ? "s" : "",
    run.italic ? "em" : "",
    run.bold ? "strong" : "",
  ];
  const text: ElementContent = { type: "text", value: run.text };
  const content = marks.filter(Boolean).reduce<ElementContent>((inner, mark) => element(mark, [inner]), text);
  const shown = run.reading === undefined ? content : element("ruby", [content, element("rt", [run.reading])]);
  return run.href ? element("a", [shown], { href: run.href }) : shown;
};

const plainText = (runs: TextRun[]): string => runs.map((run) => (run.isLineBreak ? "\n" : run.text)).join("");

const toBlock = ({ kind, runs }: Paragraph): Element => {
  if (kind === "pre") return element("pre", [plainText(runs)]);
  const content = mergeRuns(runs).map(toInline);
  return kind === "quote" ? element("blockquote", [element("p", content)]) : element(kind, content);
};

interface OpenList {
  level: number;
  list: Element;
  /** The number that Markdown gives to its next item. */
  next: number;
}

const lastItem = ({ list }: OpenList): Element | undefined => list.children.filter(isElement).at(-1);

/** Adds an item to the innermost open list of its level and kind, or to a new list. Returns the list if it is new and not nested. */
const addItem = (
  open: OpenList[],
  { level, ordered, number }: NonNullable<Paragraph["item"]>,
  content: ElementContent[],
): Element | undefined => {
  const tagName = ordered ? "ol" : "ul";
  while ((open.at(-1)?.level ?? -1) > level) open.pop();
  if (open.at(-1)?.level === level && open.at(-1)?.list.tagName !== tagName) open.pop();
  const top = open.at(-1);
  if (top?.level === level) {
    const value = number ?? top.next;
    top.list.children.push(element("li", content, value === top.next ? {} : { value: String(value) }));
    top.next = value + 1;
    return undefined;
  }
  const start = number ?? 1;
  const list = element(tagName, [element("li", content)], start === 1 ? {} : { start });
  open.push({ level, list, next: start + 1 });
  const parent = top && lastItem(top);
  parent?.children.push(list);
  return parent ? undefined : list;
};

/** Paragraphs and other blocks as HTML, with items in nested lists and lines of code in one block. */
export const toBlocks = (content: (Paragraph | Element)[]): ElementContent[] => {
  const blocks: ElementContent[] = [];
  let open: OpenList[] = [];
  for (const one of content) {
    if ("kind" in one && one.item) {
      const inline = mergeRuns(one.runs).map(toInline);
      const list = addItem(open, one.item, inline);
      if (list) blocks.push(list);
    } else {
      open = [];
      blocks.push("kind" in one ? toBlock(one) : one);
    }
  }
  return joinBlocks(blocks);
};
