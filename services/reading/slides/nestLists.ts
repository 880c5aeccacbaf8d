import type { Element as Html, ElementContent } from "hast";
import { element } from "../html/tree.ts";
import { itemLabel, type ListMark, type Numbering } from "./listMarks.ts";

export interface Paragraph {
  /** From 0. */
  level: number;
  mark: ListMark;
  /** For numbers. */
  numbering?: Numbering;
  content: ElementContent[];
}

interface OpenList {
  list: Html;
  level: number;
  /** The scheme of its last item; "" for a bullet. */
  scheme: string;
  /** The first number that its last items name. */
  start: number;
  /** The number after that of its last item. */
  next: number;
}

const NUMBERS: Numbering = { scheme: "" };

const toItem = (content: ElementContent[], label: string, properties: Html["properties"]): Html => {
  const words: ElementContent[] = label === "" ? content : [{ type: "text", value: `${label} ` }, ...content];
  return element("li", [element("p", words)], properties);
};

/** Converts paragraphs to HTML; list items become nested lists. Letters of items become text, because other texts refer to them. */
export const nestLists = (paragraphs: Paragraph[]): ElementContent[] => {
  const blocks: ElementContent[] = [];
  let open: OpenList[] = [];
  for (const { level, mark, numbering = NUMBERS, content } of paragraphs) {
    if (mark === "none") {
      open = [];
      blocks.push(element("p", content));
      continue;
    }
    const { scheme, start } = mark === "number" ? numbering : NUMBERS;
    const tag = mark === "number" && itemLabel(numbering, 1) === "" ? "ol" : "ul";
    const outer = open[0];
    open = open.filter((above) => above.level <= level);
    // a list may start deeper than it continues
    if (open.length === 0 && outer?.list.tagName === tag) open.push({ ...outer, level });
    const last = open.at(-1);
    const before = last?.level === level && last.list.tagName === tag ? last : undefined;
    const continued = before?.scheme === scheme && (start ?? before.start) === before.start ? before : undefined;
    const number = continued?.next ?? start ?? 1;
    const first = start ?? continued?.start ?? 1;
    const label = mark === "number" ? itemLabel(numbering, number) : "";
    if (before) {
      const isNext = tag === "ul" || number === before.next;
      before.list.children.push(toItem(content, label, isNext ? {} : { value: String(number) }));
      Object.assign(before, { scheme, start: first, next: number + 1 });
      continue;
    }
    if (last?.level === level) open.pop();
    const list = element(tag, [toItem(content, label, {})], tag === "ol" && number !== 1 ? { start: number } : {});
    const above = open.at(-1)?.list.children.at(-1);
    if (above?.type === "element") above.children.push(list);
    else blocks.push(list);
    open.push({ list, level, scheme, start: first, next: number + 1 });
  }
  return blocks;
};
