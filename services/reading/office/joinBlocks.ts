import type { Element, ElementContent } from "hast";
import { element, isElement, property, textContent } from "../html/tree.ts";

/* Word processors store separate paragraphs; this joins those that form one block. */

const isList = (node: ElementContent | undefined): node is Element =>
  isElement(node) && (node.tagName === "ol" || node.tagName === "ul");

/** Whether a list continues the one before: its first item is deeper, or both have the same style. */
const continues = (before: Element, list: Element): boolean => {
  const first = list.children.find(isElement);
  const content = first?.children.filter((child) => isElement(child) || textContent(child).trim() !== "") ?? [];
  if (content.length > 0 && content.every(isList)) return true;
  return before.tagName === list.tagName && property(before, "dataList") === property(list, "dataList");
};

const joinPair = (before: Element, next: Element): Element | undefined => {
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

/** Joins adjacent lines of code, quotes and parts of a list, also inside blocks. */
export const joinBlocks = (nodes: ElementContent[]): ElementContent[] => {
  const joined: ElementContent[] = [];
  for (const node of nodes) {
    const next = isElement(node) ? { ...node, children: joinBlocks(node.children) } : node;
    const last = joined.at(-1);
    const both = isElement(last) && isElement(next) ? joinPair(last, next) : undefined;
    if (both) joined[joined.length - 1] = both;
    else joined.push(next);
  }
  return joined;
};
