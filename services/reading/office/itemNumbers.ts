import type { Element, ElementContent, Nodes } from "hast";
import { childNodes, element, findElements, isElement, property } from "../html/tree.ts";

/* The converter numbers each list from 1 and merges adjacent lists. Bookmarks in the items carry the real numbers. */

const MARK = /^_item-(\d+)-(\d+)$/;

export const itemMark = (list: string, number: number): string => `_item-${list}-${number}`;

interface NumberedItem {
  item: Element;
  list: string;
  number: number;
}

const readMark = (item: Element): NumberedItem => {
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

/** Splits a list where its numbers do not continue. */
const splitList = (list: Element): Element[] => {
  const lists: { list: Element; last: NumberedItem }[] = [];
  for (const numbered of list.children.filter(isElement).map(readMark)) {
    const open = lists.at(-1);
    if (
      open &&
      (numbered.list === "" || (numbered.list === open.last.list && numbered.number === open.last.number + 1))
    ) {
      open.list.children.push(numbered.item);
      open.last = numbered;
    } else lists.push({ list: element("ol", [numbered.item], { start: numbered.number }), last: numbered });
  }
  return lists.map((one) => one.list);
};

/** Gives numbered lists the numbers of their items' bookmarks, in place. */
export const numberItems = (node: Nodes): void => {
  for (const child of childNodes(node)) numberItems(child);
  if (!("children" in node)) return;
  node.children = (node.children as ElementContent[]).flatMap((child) =>
    isElement(child) && child.tagName === "ol" && !property(child, "start") ? splitList(child) : [child],
  );
};
