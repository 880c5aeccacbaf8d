import type { Element } from "hast";
import { defaultHandlers, type State } from "hast-util-to-mdast";
import type { List, ListItem } from "mdast";
import { property } from "./tree.ts";

/* Item numbers that do not follow from the first one: `<li value="7">`, `<ol reversed>`. Markdown has a number for each item. */

declare module "mdast" {
  interface ListItemData {
    /** The number shown before the item, if its list does not count on from its start. */
    number?: number;
  }
}

/** Markdown has no larger numbers. */
const MAX_NUMBER = 999_999_999;

const toNumber = (text: string): number | undefined => {
  const number = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
  return number !== undefined && number <= MAX_NUMBER ? number : undefined;
};

export const numberedItem = (state: State, node: Element): ListItem => {
  const item = defaultHandlers["li"]?.(state, node);
  const number = toNumber(property(node, "value"));
  return number === undefined ? item : { ...item, data: { number } };
};

/** An ordered list, with the numbers of its items if they are not consecutive. */
export const orderedList = (state: State, node: Element): List => {
  const list = defaultHandlers["ol"]?.(state, node);
  const isReversed = "reversed" in node.properties && node.properties["reversed"] !== false;
  if (!isReversed && !list.children.some(({ data }) => data?.number !== undefined)) return list;
  const start = toNumber(property(node, "start")) ?? (isReversed ? list.children.length : 1);
  let next = start;
  const children = list.children.map((item) => {
    const number = item.data?.number ?? next;
    next = Math.max(0, number + (isReversed ? -1 : 1));
    return { ...item, data: { number } };
  });
  return { ...list, children };
};

/** The number shown before an item of an ordered list. */
export const numberOf = ({ start }: List, item: ListItem, index: number): number =>
  item.data?.number ?? (start != null && start >= 0 ? start : 1) + index;
