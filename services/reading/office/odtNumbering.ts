import { childElements, findAll, type Element } from "../guard/xml.ts";
import { readListLevel, type OdtStyles } from "./odtStyles.ts";
import { formatNumber } from "./listNumbers.ts";

/* OpenDocument does not store the numbers of chapters; they follow from counting. */

/** Names of number formats as Word has them. */
const FORMATS: Readonly<Record<string, string>> = {
  a: "lowerLetter",
  A: "upperLetter",
  i: "lowerRoman",
  I: "upperRoman",
};

const OUTLINE = "text:outline-style";

/** Levels of chapters; files have ten. */
const MAX_LEVEL = 10;

/** A number as a list or a chapter shows it. `format`: as in `style:num-format`. */
export const formatOdtNumber = (number: number, format: string): string =>
  formatNumber(number, FORMATS[format] ?? "decimal");

/** Gives the printed number of each heading, `2.1`, in their order; "" for headings without one. `parts`: styles.xml and content.xml. */
export const openChapterNumbers = (
  parts: readonly Element[],
  { isUnnumbered }: OdtStyles,
): ((heading: Element) => string) => {
  const [outline] = parts.flatMap((part) => findAll(part, OUTLINE));
  const levels = new Map((outline ? childElements(outline) : []).map((level) => readListLevel(level, "")));
  const counters: number[] = [];
  const formatted = (level: number): string => {
    const { format = "" } = levels.get(level) ?? {};
    return format === "" ? "" : formatOdtNumber(counters[level] ?? 1, format);
  };
  return ({ attributes }) => {
    const level = Number(attributes["text:outline-level"]) || 1;
    const own = levels.get(level);
    if (!own?.format || level > MAX_LEVEL) return "";
    if (attributes["text:is-list-header"] === "true" || isUnnumbered(attributes["text:style-name"] ?? "")) return "";
    for (let above = 1; above < level; above += 1) counters[above] ??= levels.get(above)?.start ?? 1;
    const isRestarted = attributes["text:restart-numbering"] === "true";
    const start = Number(attributes["text:start-value"]) || own.start;
    counters[level] = isRestarted ? start : (counters[level] ?? own.start - 1) + 1;
    counters.length = level + 1;
    const shown = Math.min(own.shown, level);
    const named = Array.from({ length: shown }, (_, at) => level - shown + 1 + at);
    const number = named.map(formatted).filter(Boolean).join(".");
    return `${own.prefix}${number}${own.suffix}`.trim();
  };
};
