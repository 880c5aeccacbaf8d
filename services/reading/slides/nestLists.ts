import type { Element as Html, ElementContent } from "hast";
import { element } from "../html/tree.ts";
import type { ListMark } from "./listMarks.ts";

export interface Paragraph {
  /** From 0. */
  level: number;
  mark: ListMark;
  content: ElementContent[];
}

interface OpenList {
  list: Html;
  level: number;
}

/** Converts paragraphs to HTML; list items become nested lists. */
export const nestLists = (paragraphs: Paragraph[]): ElementContent[] => {
  const blocks: ElementContent[] = [];
  let open: OpenList[] = [];
  for (const { level, mark, content } of paragraphs) {
    if (mark === "none") {
      open = [];
      blocks.push(element("p", content));
      continue;
    }
    const tag = mark === "number" ? "ol" : "ul";
    const outer = open[0];
    open = open.filter((above) => above.level <= level);
    // a list may start deeper than it continues
    if (open.length === 0 && outer?.list.tagName === tag) open.push({ ...outer, level });
    const last = open.at(-1);
    const item = element("li", [element("p", content)]);
    if (last?.level === level && last.list.tagName === tag) {
      last.list.children.push(item);
      continue;
    }
    if (last?.level === level) open.pop();
    const list = element(tag, [item]);
    const above = open.at(-1)?.list.children.at(-1);
    if (above?.type === "element") above.children.push(list);
    else blocks.push(list);
    open.push({ list, level });
  }
  return blocks;
};
