import { findChild, type Element, childElements } from "../guard/xml.ts";
import { romanNumber } from "../numberFormats.ts";
import { wordValue } from "./wordStyles.ts";

/* Word does not store the numbers of headings and items; they follow from counting. */

export interface ParagraphNumber {
  /** The printed number, `2.1` or `c)`; "" for bullets and for levels without a number. */
  label: string;
  number: number;
  /** The plan (`w:abstractNum`) that counts it. Lists with one plan share its numbers. */
  list: string;
}

export interface Numbering {
  /** Counts a paragraph and returns its number; undefined if the document does not define the list. */
  next(properties: Element): ParagraphNumber | undefined;
}

const letters = (number: number): string =>
  String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.floor((number - 1) / 26) + 1);

export const formatNumber = (number: number, format: string): string => {
  if (number < 1 || number > 9_999) return String(number);
  switch (format) {
    case "lowerLetter":
      return letters(number);
    case "upperLetter":
      return letters(number).toUpperCase();
    case "lowerRoman":
      return romanNumber(number);
    case "upperRoman":
      return romanNumber(number).toUpperCase();
    case "decimalZero":
      return String(number).padStart(2, "0");
    default:
      return String(number);
  }
};

const byAttribute = (root: Element | undefined, name: string, key: string): Map<string, Element> =>
  new Map(
    (root ? childElements(root) : [])
      .filter((child) => child.name === name)
      .map((child) => [child.attributes[key] ?? "", child]),
  );

const MAX_LEVEL = 8;

/** A list's levels by their number: those of its plan, replaced by its own. */
const readLevels = (list: Element, plan: Element): Map<string, Element> => {
  const own = [...byAttribute(list, "w:lvlOverride", "w:ilvl")].flatMap(([level, override]): [string, Element][] => {
    const replacement = findChild(override, "w:lvl");
    return replacement ? [[level, replacement]] : [];
  });
  return new Map([...byAttribute(plan, "w:lvl", "w:ilvl"), ...own]);
};

const levelValue = (levels: Map<string, Element>, level: number, name: string): string =>
  wordValue(findChild(levels.get(String(level)), name));

/** Counts one paragraph of a level: starts the levels above that have no number yet, and resets those below. */
const countUp = (counters: number[], level: number, levels: Map<string, Element>): number => {
  const start = (at: number): number => Number(levelValue(levels, at, "w:start") || 1);
  for (let above = 0; above < level; above += 1) counters[above] ??= start(above);
  const number = (counters[level] ?? start(level) - 1) + 1;
  counters[level] = number;
  counters.length = level + 1;
  return number;
};

/** The label of a level, with the numbers of the levels that it names as `%1` to `%9`. */
const formatLabel = (counters: number[], level: number, levels: Map<string, Element>): string => {
  const format = (at: number): string => levelValue(levels, at, "w:numFmt");
  if (/^(?:bullet|none)$/.test(format(level))) return "";
  return levelValue(levels, level, "w:lvlText")
    .replace(/%([1-9])/g, (_, one: string) => formatNumber(counters[Number(one) - 1] ?? 1, format(Number(one) - 1)))
    .trim();
};

/** Reads word/numbering.xml. */
export const readWordNumbering = (root: Element | undefined): Numbering => {
  const lists = byAttribute(root, "w:num", "w:numId");
  const plans = byAttribute(root, "w:abstractNum", "w:abstractNumId");
  const countersByPlan = new Map<string, number[]>();
  const startedLists = new Set<string>();

  /** The first use of a list may restart the numbers of its plan. */
  const startList = (id: string, list: Element, counters: number[]): void => {
    if (startedLists.has(id)) return;
    startedLists.add(id);
    for (const [level, override] of byAttribute(list, "w:lvlOverride", "w:ilvl")) {
      const start = findChild(override, "w:startOverride");
      if (start) counters[Number(level)] = Number(wordValue(start)) - 1;
    }
  };

  return {
    next(properties) {
      const id = wordValue(findChild(properties, "w:numId"));
      const level = Math.min(Number(wordValue(findChild(properties, "w:ilvl"))) || 0, MAX_LEVEL);
      const list = lists.get(id);
      const planId = wordValue(findChild(list, "w:abstractNumId"));
      const plan = plans.get(planId);
      if (!list || !plan) return undefined;
      const levels = readLevels(list, plan);
      const counters = countersByPlan.get(planId) ?? [];
      countersByPlan.set(planId, counters);
      startList(id, list, counters);
      const number = countUp(counters, level, levels);
      return { label: formatLabel(counters, level, levels), number, list: planId };
    },
  };
};
