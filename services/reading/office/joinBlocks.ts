import type { Element, ElementContent } from "hast";
import { element, isElement, property } from "../html/tree.ts";

/* Word processors write one paragraph after the other; what belongs together is put together here. */

const isList = (node: ElementContent | undefined): node is Element =>
  isElement(node) && (node.tagName === "ol" || node.tagName === "ul");

/** A list that only continues another: deeper from its first item on, or of the same style. */
const continues = (before: Element, list: Element): boolean => {
  const first = list.children.find(isElement);
  const content = first?.children.filter(isElement) ?? [];
  if (content.length > 0 && content.every(isList)) return true;
  return before.tagName === list.tagName && property(before, "dataList") === property(list, "dataList");
};

const joinTwo = (before: Element, next: Element): Element | undefined => {
  if (before.tagName === "pre" && next.tagName === "pre") {
    return element("pre", [...before.children, "\n", ...next.children]);
  }
  if (before.tagName === "blockquote" && next.tagName === "blockquote") {
    return element("blockquote", [...before.children, ...next.children]);
  }
  if (isList(before) && isList(next) && continues(before, next)) {
    return { ...before, children: [...before.children, ...next.children] };
  }
  return undefined;
};

/** Lines of code become one block, quotes one quote, parts of a list one list; inside of blocks as well. */
export const joinBlocks = (nodes: ElementContent[]): ElementContent[] => {
  const joined: ElementContent[] = [];
  for (const node of nodes) {
    const next = isElement(node) ? { ...node, children: joinBlocks(node.children) } : node;
    const last = joined.at(-1);
    const both = isElement(last) && isElement(next) ? joinTwo(last, next) : undefined;
    if (both) joined[joined.length - 1] = both;
    else joined.push(next);
  }
  return joined;
};
