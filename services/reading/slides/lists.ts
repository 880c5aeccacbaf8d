import type { Element as Html, ElementContent } from "hast";
import { element } from "../html/tree.ts";
import type { Mark } from "./bullets.ts";

export interface Paragraph {
  /** From 0. */
  level: number;
  mark: Mark;
  content: ElementContent[];
}

interface Open {
  list: Html;
  level: number;
}

/** Paragraphs in a row as HTML: items become lists, deeper ones lists inside the item above. */
export const nested = (paragraphs: Paragraph[]): ElementContent[] => {
  const blocks: ElementContent[] = [];
  let open: Open[] = [];
  for (const { level, mark, content } of paragraphs) {
    if (mark === "none") {
      open = [];
      blocks.push(element("p", content));
      continue;
    }
    const tag = mark === "number" ? "ol" : "ul";
    const outer = open[0];
    open = open.filter((above) => above.level <= level);
    // A list may begin deeper than it goes on.
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
