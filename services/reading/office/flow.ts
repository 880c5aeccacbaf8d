import type { Element, ElementContent } from "hast";
import { NOTE_REFERENCE } from "../html/notes.ts";
import { element, isElement } from "../html/tree.ts";
import { joinBlocks } from "./joinBlocks.ts";

/* Formats older than XML say of each paragraph by itself what it is. */

/** Text of one look. */
export interface Run {
  text: string;
  bold?: boolean;
  italic?: boolean;
  struck?: boolean;
  raised?: boolean;
  code?: boolean;
  href?: string;
  /** Instead of text: the number of a note, or a line break. */
  note?: string;
  line?: boolean;
}

export interface Paragraph {
  kind: "p" | "pre" | "quote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6";
  runs: Run[];
  /** Of an item of a list; the level counts from 0. */
  item?: { level: number; ordered: boolean };
}

const sameLook = (one: Run, other: Run): boolean =>
  one.bold === other.bold &&
  one.italic === other.italic &&
  one.struck === other.struck &&
  one.raised === other.raised &&
  one.code === other.code &&
  one.href === other.href;

const isText = (run: Run): boolean => run.note === undefined && !run.line;

/** Neighbours of the same look as one. */
export const merged = (runs: Run[]): Run[] => {
  const found: Run[] = [];
  for (const run of runs) {
    const last = found.at(-1);
    if (last && isText(last) && isText(run) && sameLook(last, run))
      found[found.length - 1] = { ...last, text: last.text + run.text };
    else found.push(run);
  }
  return found;
};

const inlineOf = (run: Run): ElementContent => {
  if (run.line) return element("br");
  if (run.note !== undefined) return element(NOTE_REFERENCE, [], { id: run.note });
  const marks = [
    run.code ? "code" : "",
    run.raised ? "sup" : "",
    run.struck ? "s" : "",
    run.italic ? "em" : "",
    run.bold ? "strong" : "",
  ];
  const text: ElementContent = { type: "text", value: run.text };
  const content = marks.filter(Boolean).reduce<ElementContent>((inner, mark) => element(mark, [inner]), text);
  return run.href ? element("a", [content], { href: run.href }) : content;
};

const plainOf = (runs: Run[]): string => runs.map((run) => (run.line ? "\n" : run.text)).join("");

const blockOf = ({ kind, runs }: Paragraph): Element => {
  if (kind === "pre") return element("pre", [plainOf(runs)]);
  const content = merged(runs).map(inlineOf);
  return kind === "quote" ? element("blockquote", [element("p", content)]) : element(kind, content);
};

interface OpenList {
  level: number;
  list: Element;
}

const lastItem = ({ list }: OpenList): Element | undefined => list.children.filter(isElement).at(-1);

/** Adds an item to the innermost open list of its level and kind, or to a new one; returns a list that is new at the top. */
const addItem = (open: OpenList[], level: number, tagName: string, content: ElementContent[]): Element | undefined => {
  while ((open.at(-1)?.level ?? -1) > level) open.pop();
  if (open.at(-1)?.level === level && open.at(-1)?.list.tagName !== tagName) open.pop();
  const item = element("li", content);
  const top = open.at(-1);
  if (top?.level === level) {
    top.list.children.push(item);
    return undefined;
  }
  const list = element(tagName, [item]);
  open.push({ level, list });
  const parent = top && lastItem(top);
  parent?.children.push(list);
  return parent ? undefined : list;
};

/** Paragraphs, and blocks between them, as HTML: items as nested lists, lines of code as one block. */
export const blocksOf = (content: (Paragraph | Element)[]): ElementContent[] => {
  const blocks: ElementContent[] = [];
  let open: OpenList[] = [];
  for (const one of content) {
    if ("kind" in one && one.item) {
      const inline = merged(one.runs).map(inlineOf);
      const list = addItem(open, one.item.level, one.item.ordered ? "ol" : "ul", inline);
      if (list) blocks.push(list);
    } else {
      open = [];
      blocks.push("kind" in one ? blockOf(one) : one);
    }
  }
  return joinBlocks(blocks);
};
