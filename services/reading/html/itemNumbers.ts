import type { Element } from "hast";
import { defaultHandlers, type State } from "hast-util-to-mdast";
import type { List, ListItem } from "mdast";
import { letterNumber, romanNumber } from "../numberFormats.ts";
import { property } from "./tree.ts";

/*
 * Item numbers that do not follow from the first one: `<li value="7">`, `<ol reversed>`. Markdown has a number for each item, but no
 * letters and Roman numbers, which `<ol type="a">` has.
 */

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

type NumberFormat = (number: number) => string;

const upper =
  (format: NumberFormat): NumberFormat =>
  (number) =>
    format(number).toUpperCase();

/** By the `type` of a list, and by the property `list-style-type`. */
const FORMATS: ReadonlyMap<string, NumberFormat> = new Map([
  ["a", letterNumber],
  ["lower-alpha", letterNumber],
  ["lower-latin", letterNumber],
  ["A", upper(letterNumber)],
  ["upper-alpha", upper(letterNumber)],
  ["upper-latin", upper(letterNumber)],
  ["i", romanNumber],
  ["lower-roman", romanNumber],
  ["I", upper(romanNumber)],
  ["upper-roman", upper(romanNumber)],
]);

const LIST_STYLE = /(?:^|;)\s*list-style(?:-type)?\s*:[^;]*?\b(decimal|(?:lower|upper)-(?:alpha|latin|roman))\b/i;

const formatOf = (list: Element): NumberFormat | undefined =>
  FORMATS.get(LIST_STYLE.exec(property(list, "style"))?.[1]?.toLowerCase() ?? property(list, "type"));

/** The item with a label before its words. An item that contains only a list has none: it continues the item before. */
const addLabel = (item: ListItem, label: string): ListItem => {
  const [first, ...others] = item.children;
  if (first === undefined || item.children.every(({ type }) => type === "list")) return item;
  if (first.type !== "paragraph" && first.type !== "heading") {
    return { ...item, children: [{ type: "paragraph", children: [{ type: "text", value: label }] }, ...item.children] };
  }
  const labelled = { ...first, children: [{ type: "text" as const, value: `${label} ` }, ...first.children] };
  return { ...item, children: [labelled, ...others] };
};

/** The list with its letters as text, `b.`, because other texts refer to them. */
const labelItems = (list: List, format: NumberFormat): List => {
  const children = list.children.map((item, index) => {
    const number = numberOf(list, item, index);
    return addLabel(item, `${format(number)}.`);
  });
  return { ...list, ordered: false, start: null, children };
};

/** An ordered list, with the numbers of its items if they are not consecutive decimals. */
export const orderedList = (state: State, node: Element): List => {
  const list = numberedList(state, node);
  const format = formatOf(node);
  return format ? labelItems(list, format) : list;
};

const numberedList = (state: State, node: Element): List => {
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
