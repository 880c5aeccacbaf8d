import { romanNumber } from "../numberFormats.ts";

/* Word does not store the numbers of headings and items; they follow from counting. */

/** How a level of a list is numbered. */
export interface NumberedLevel {
  /** A name of Word's: `decimal`, `lowerLetter`, `bullet`. */
  format: string;
  /** The label, with the numbers of levels as `%1` to `%9`. */
  text: string;
  start: number;
  /** All numbers in the label are decimals, as in `1.1` below `Article I`. */
  isLegal?: boolean;
  /** Its numbers continue after a level above. */
  neverRestarts?: boolean;
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

/** The last numbers of the levels of a list; undefined for those that begin with their start. */
export type Counters = (number | undefined)[];

/** The level of a list, from 0. */
type Levels<T = NumberedLevel> = (level: number) => T;

/** Counts one paragraph of a level: starts the levels above that have no number yet, and resets those below that restart. */
export const countUp = (
  counters: Counters,
  level: number,
  levels: Levels<Pick<NumberedLevel, "start" | "neverRestarts">>,
): number => {
  for (let above = 0; above < level; above += 1) counters[above] ??= levels(above).start;
  const number = (counters[level] ?? levels(level).start - 1) + 1;
  counters[level] = number;
  const kept = counters.findLastIndex((_, at) => at > level && levels(at).neverRestarts === true);
  for (let below = level + 1; below < kept; below += 1) {
    if (levels(below).neverRestarts !== true) counters[below] = undefined;
  }
  counters.length = Math.max(level, kept) + 1;
  return number;
};

/** The label of a level, with the numbers of the levels that it names; "" for bullets and for levels without a number. */
export const formatLabel = (counters: Counters, level: number, levels: Levels): string => {
  const { format, text, isLegal } = levels(level);
  if (/^(?:bullet|none)$/.test(format)) return "";
  const numberAt = (named: number): string =>
    formatNumber(counters[named] ?? 1, isLegal === true ? "decimal" : levels(named).format);
  return text.replace(/%([1-9])/g, (_, named: string) => numberAt(Number(named) - 1)).trim();
};
