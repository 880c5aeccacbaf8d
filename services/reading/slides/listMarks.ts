import type { Element } from "../guard/xml.ts";
import { letterNumber, romanNumber } from "../numberFormats.ts";
import { findPath, childNamed } from "./localNames.ts";

/** The mark of a list item; `none` if the paragraph is not an item. */
export type ListMark = "bullet" | "number" | "none";

/** How items are numbered. */
export interface Numbering {
  /** Its name in the format, such as `alphaLcParenBoth`. */
  scheme: string;
  /** The first number of its items; undefined if they name none. */
  start?: number;
}

interface FoundMark {
  mark: ListMark;
  /** For numbers. */
  numbering?: Numbering;
}

/** The `lstStyle`s of shape, layout and master, nearest first. */
export type Styles = (Element | undefined)[];

const readStart = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const start = Number(text);
  return Number.isSafeInteger(start) && start > 0 ? start : 1;
};

const ownMark = (properties: Element | undefined): FoundMark | undefined => {
  if (childNamed(properties, "buNone")) return { mark: "none" };
  const numbers = childNamed(properties, "buAutoNum");
  if (numbers) {
    const { type = "", startAt } = numbers.attributes;
    return { mark: "number", numbering: { scheme: type, start: readStart(startAt) } };
  }
  return (childNamed(properties, "buChar") ?? childNamed(properties, "buBlip")) ? { mark: "bullet" } : undefined;
};

/** The mark from the paragraph's own properties, else from the styles of its level. */
export const findMark = (properties: Element | undefined, level: number, styles: Styles): FoundMark => {
  const own = ownMark(properties);
  if (own) return own;
  for (const style of styles) {
    const found = ownMark(findPath(style, `lvl${level + 1}pPr`));
    if (found) return found;
  }
  return { mark: "none" };
};

const LETTERS = /^(alpha|roman)(Lc|Uc)(ParenBoth|ParenR|Period)$/;

/** The label of an item that Markdown's own number cannot replace, as `(c)`; "" for others. */
export const itemLabel = ({ scheme }: Numbering, number: number): string => {
  const [, kind, letters, signs] = LETTERS.exec(scheme) ?? [];
  if (kind === undefined) return "";
  const lower = kind === "alpha" ? letterNumber(number) : romanNumber(number);
  const shown = letters === "Uc" ? lower.toUpperCase() : lower;
  if (signs === "Period") return `${shown}.`;
  return signs === "ParenBoth" ? `(${shown})` : `${shown})`;
};
