import type { Element, ElementContent, Nodes } from "hast";
import { childrenOf, element, findElements, isElement, property } from "../html/tree.ts";

/* The converter counts each list from 1 and takes lists that follow each other for one. Marks in the items tell better. */

const MARK = /^_item-(\d+)-(\d+)$/;

export const itemMark = (list: string, number: number): string => `_item-${list}-${number}`;

interface Marked {
  item: Element;
  list: string;
  number: number;
}

const markOf = (item: Element): Marked => {
  const nested = new Set(
    findElements(item, ({ tagName }) => tagName === "li").flatMap((li) => findElements(li, () => true)),
  );
  const marks = findElements(
    item,
    (node) => node.tagName === "a" && !nested.has(node) && MARK.test(property(node, "id")),
  );
  const [, list = "", number = "1"] = MARK.exec(marks[0] ? property(marks[0], "id") : "") ?? [];
  return { item, list, number: Number(number) };
};

/** The list as one for each row of numbers in it. */
const split = (list: Element): Element[] => {
  const lists: { list: Element; last: Marked }[] = [];
  for (const marked of list.children.filter(isElement).map(markOf)) {
    const open = lists.at(-1);
    if (open && (marked.list === "" || (marked.list === open.last.list && marked.number === open.last.number + 1))) {
      open.list.children.push(marked.item);
      open.last = marked;
    } else lists.push({ list: element("ol", [marked.item], { start: marked.number }), last: marked });
  }
  return lists.map((one) => one.list);
};

/** Gives numbered lists the numbers that their items are marked with, in place. */
export const numberItems = (node: Nodes): void => {
  for (const child of childrenOf(node)) numberItems(child);
  if (!("children" in node)) return;
  node.children = (node.children as ElementContent[]).flatMap((child) =>
    isElement(child) && child.tagName === "ol" && !property(child, "start") ? split(child) : [child],
  );
};
