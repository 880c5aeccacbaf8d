import type { Element } from "../guard/xml.ts";
import { at, childNamed } from "./names.ts";

/** What stands before a paragraph; nothing before one that is no item. */
export type Mark = "bullet" | "number" | "none";

/** Where a shape's paragraphs get their looks from, nearest first: the `lstStyle`s of shape, layout and master. */
export type Styles = (Element | undefined)[];

const markIn = (properties: Element | undefined): Mark | undefined => {
  if (childNamed(properties, "buNone")) return "none";
  if (childNamed(properties, "buAutoNum")) return "number";
  return (childNamed(properties, "buChar") ?? childNamed(properties, "buBlip")) ? "bullet" : undefined;
};

/** A paragraph says it itself, or else its level's style does. */
export const markOf = (properties: Element | undefined, level: number, styles: Styles): Mark => {
  const own = markIn(properties);
  if (own) return own;
  for (const style of styles) {
    const found = markIn(at(style, `lvl${level + 1}pPr`));
    if (found) return found;
  }
  return "none";
};
