import type { Element, ElementContent } from "hast";
import { element, isElement, property, textContent } from "../html/tree.ts";

/* Word processors store separate paragraphs; this joins those that form one block. */

const isList = (node: ElementContent | undefined): node is Element =>
  isElement(node) && (node.tagName === "ol" || node.tagName === "ul");

/** The deeper lists of an item that has no words of its own; undefined for other items. */
const deeperLists = (item: Element | undefined): Element[] | undefined => {
  const content = item?.children.filter((child) => isElement(child) || textContent(child).trim() !== "") ?? [];
  return content.length > 0 && content.every(isList) ? content : undefined;
};

/** The items of two lists of which the second continues the first: its first item is deeper, or both have the same style. */
const joinItems = (before: Element, list: Element): ElementContent[] | undefined => {
  const [first, ...others] = list.children.filter(isElement);
  const last = before.children.findLast(isElement);
  const deeper = deeperLists(first);
  // an item without words would have a number
  if (deeper && last && !deeperLists(last)) {
    return [...before.children.with(before.children.lastIndexOf(last), addLists(last, deeper)), ...others];
  }
  const isSame = before.tagName === list.tagName && property(before, "dataList") === property(list, "dataList");
  return deeper || isSame ? [...before.children, ...list.children] : undefined;
};

const addLists = (item: Element, lists: readonly Element[]): Element => ({
  ...item,
  children: [...item.children, ...lists],
});

const joinPair = (before: Element, next: Element): Element | undefined => {
  if (before.tagName === "pre" && next.tagName === "pre") {
    return element("pre", [...before.children, "\n", ...next.children]);
  }
  if (before.tagName === "blockquote" && next.tagName === "blockquote") {
    return element("blockquote", [...before.children, ...next.children]);
  }
  const items = isList(before) && isList(next) ? joinItems(before, next) : undefined;
  return items && { ...before, children: items };
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
