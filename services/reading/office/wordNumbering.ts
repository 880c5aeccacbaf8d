import { childOf, type Element, elementsOf } from "../guard/xml.ts";
import { valueOf } from "./wordStyles.ts";

/* Word keeps the numbers of headings and items nowhere: they follow from counting. */

export interface Numbered {
  /** As printed, `2.1` or `c)`; "" for bullets and for levels without a number. */
  label: string;
  number: number;
  /** What counts it; lists that follow one plan share its numbers. */
  list: string;
}

export interface Numbering {
  /** Counts a paragraph, and returns its number; undefined where the document does not say how to count. */
  next(properties: Element): Numbered | undefined;
}

const letters = (number: number): string =>
  String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.floor((number - 1) / 26) + 1);

const ROMAN: [number, string][] = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"],
];

const roman = (number: number): string => {
  const step = ROMAN.find(([value]) => value <= number);
  return step ? step[1] + roman(number - step[0]) : "";
};

const spell = (number: number, format: string): string => {
  if (number < 1 || number > 9_999) return String(number);
  switch (format) {
    case "lowerLetter":
      return letters(number);
    case "upperLetter":
      return letters(number).toUpperCase();
    case "lowerRoman":
      return roman(number);
    case "upperRoman":
      return roman(number).toUpperCase();
    case "decimalZero":
      return String(number).padStart(2, "0");
    default:
      return String(number);
  }
};

const keyed = (root: Element | undefined, name: string, key: string): Map<string, Element> =>
  new Map(
    (root ? elementsOf(root) : [])
      .filter((child) => child.name === name)
      .map((child) => [child.attributes[key] ?? "", child]),
  );

const MAX_LEVEL = 8;

/** Reads word/numbering.xml. */
export const readWordNumbering = (root: Element | undefined): Numbering => {
  const nums = keyed(root, "w:num", "w:numId");
  const plans = keyed(root, "w:abstractNum", "w:abstractNumId");
  const counts = new Map<string, number[]>();
  const begun = new Set<string>();

  const levelsOf = (num: Element, plan: Element): Map<string, Element> => {
    const overrides = [...keyed(num, "w:lvlOverride", "w:ilvl")].flatMap(([level, override]): [string, Element][] => {
      const own = childOf(override, "w:lvl");
      return own ? [[level, own]] : [];
    });
    return new Map([...keyed(plan, "w:lvl", "w:ilvl"), ...overrides]);
  };

  /** A list that is used for the first time may begin anew what others counted. */
  const restart = (id: string, num: Element, counted: number[]): void => {
    if (begun.has(id)) return;
    begun.add(id);
    for (const [level, override] of keyed(num, "w:lvlOverride", "w:ilvl")) {
      const start = childOf(override, "w:startOverride");
      if (start) counted[Number(level)] = Number(valueOf(start)) - 1;
    }
  };

  return {
    next(properties) {
      const id = valueOf(childOf(properties, "w:numId"));
      const level = Math.min(Number(valueOf(childOf(properties, "w:ilvl"))) || 0, MAX_LEVEL);
      const num = nums.get(id);
      const planId = valueOf(childOf(num, "w:abstractNumId"));
      const plan = plans.get(planId);
      if (!num || !plan) return undefined;
      const levels = levelsOf(num, plan);
      const startOf = (at: number): number => Number(valueOf(childOf(levels.get(String(at)), "w:start")) || 1);
      const formatOf = (at: number): string => valueOf(childOf(levels.get(String(at)), "w:numFmt"));
      const counted = counts.get(planId) ?? [];
      counts.set(planId, counted);
      restart(id, num, counted);
      for (let above = 0; above < level; above += 1) counted[above] ??= startOf(above);
      const number = (counted[level] ?? startOf(level) - 1) + 1;
      counted[level] = number;
      counted.length = level + 1;
      const shown = /^(?:bullet|none)$/.test(formatOf(level))
        ? ""
        : valueOf(childOf(levels.get(String(level)), "w:lvlText"));
      const label = shown.replace(/%([1-9])/g, (_, one: string) =>
        spell(counted[Number(one) - 1] ?? 1, formatOf(Number(one) - 1)),
      );
      return { label: label.trim(), number, list: planId };
    },
  };
};
