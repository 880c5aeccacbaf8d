import type { ElementContent } from "hast";
import type { Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { formatOdtNumber } from "./odtNumbering.ts";
import type { ListLevel } from "./odtStyles.ts";
import { isReference } from "./paragraphRole.ts";

/**
 * The numbers of a list's levels before its first item: none, or the last numbers of the list that it continues. `lists` has the numbers
 * of the earlier lists by id and by style; this list is added.
 */
export const startCounters = ({ attributes }: Element, style: string, lists: Map<string, number[]>): number[] => {
  const continued = attributes["text:continue-list"] ?? "";
  const isContinued = continued !== "" || attributes["text:continue-numbering"] === "true";
  const counters = isContinued ? [...(lists.get(continued === "" ? style : continued) ?? [])] : [];
  for (const key of [style, attributes["xml:id"] ?? ""]) lists.set(key, counters);
  return counters;
};

/** The levels of a list that have numbers, from 1. */
type Levels = (level: number) => ListLevel | undefined;

/**
 * The label of an item that Markdown's own number cannot replace, as `(c)` or `2.1`; "" for others. `numbers`: of the levels
 * down to that of the item.
 */
export const itemLabel = (levels: Levels, numbers: readonly number[]): string => {
  const own = levels(numbers.length);
  if (!own) return "";
  const shown = numbers.map((number, above) => {
    const { format = "" } = levels(above + 1) ?? {};
    return format === "" ? "" : formatOdtNumber(number, format);
  });
  const number = shown.slice(-own.shown).filter(Boolean).join(".");
  const label = `${own.prefix}${number}${own.suffix}`.trim();
  return isReference(label) ? label : "";
};

/** Whether Markdown's own numbers can replace those of a level. */
export const isOrdered = (levels: Levels, level: number): boolean =>
  levels(level) !== undefined &&
  itemLabel(
    levels,
    Array.from({ length: level }, () => 1),
  ) === "";

/** The content of an item, with a label at the beginning of its first paragraph. */
export const addItemLabel = (label: string, content: ElementContent[]): ElementContent[] => {
  const at = content.findIndex((part) => part.type === "element" && part.tagName === "p");
  const first = content[at];
  if (label === "" || first?.type !== "element") return content;
  return content.with(at, element("p", [`${label} `, ...first.children]));
};
