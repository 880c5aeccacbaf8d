import { findChild, type Element, childElements } from "../guard/xml.ts";
import { type Counters, countUp, formatLabel, type NumberedLevel } from "./listNumbers.ts";
import { isOn, wordValue } from "./wordStyles.ts";

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

/** The whole number of a property; `otherwise` if it has none, as in damaged files. */
const readWhole = (property: Element | undefined, otherwise: number): number => {
  const text = wordValue(property);
  return /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
};

const readLevel = (level: Element | undefined): NumberedLevel => ({
  format: wordValue(findChild(level, "w:numFmt")),
  text: wordValue(findChild(level, "w:lvlText")),
  start: readWhole(findChild(level, "w:start"), 1),
  isLegal: isOn(findChild(level, "w:isLgl")),
  neverRestarts: wordValue(findChild(level, "w:lvlRestart")) === "0",
});

/** The first numbers of the levels that begin again with a list. */
const readStarts = (list: Element): Map<number, number> =>
  new Map(
    [...byAttribute(list, "w:lvlOverride", "w:ilvl")].flatMap(([level, override]): [number, number][] => {
      const start = findChild(override, "w:startOverride");
      return start && Number(level) <= MAX_LEVEL ? [[Number(level), readWhole(start, 1)]] : [];
    }),
  );

/** Reads word/numbering.xml. */
export const readWordNumbering = (root: Element | undefined): Numbering => {
  const lists = byAttribute(root, "w:num", "w:numId");
  const plans = byAttribute(root, "w:abstractNum", "w:abstractNumId");
  const countersByPlan = new Map<string, Counters>();
  const startedLists = new Set<string>();

  /** The first use of a list may restart the numbers of its plan. */
  const startList = (id: string, starts: Map<number, number>, counters: Counters): void => {
    if (startedLists.has(id)) return;
    startedLists.add(id);
    for (const level of starts.keys()) counters[level] = undefined;
  };

  return {
    next(properties) {
      const id = wordValue(findChild(properties, "w:numId"));
      const level = Math.min(readWhole(findChild(properties, "w:ilvl"), 0), MAX_LEVEL);
      const list = lists.get(id);
      const planId = wordValue(findChild(list, "w:abstractNumId"));
      const plan = plans.get(planId);
      if (!list || !plan) return undefined;
      const byNumber = readLevels(list, plan);
      const starts = readStarts(list);
      const levels = (at: number): NumberedLevel => {
        const described = readLevel(byNumber.get(String(at)));
        return { ...described, start: starts.get(at) ?? described.start };
      };
      const counters = countersByPlan.get(planId) ?? [];
      countersByPlan.set(planId, counters);
      startList(id, starts, counters);
      const number = countUp(counters, level, levels);
      return { label: formatLabel(counters, level, levels), number, list: planId };
    },
  };
};
