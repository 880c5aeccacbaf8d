import type { Element } from "../guard/xml.ts";
import { findPath, childNamed } from "./localNames.ts";

/** The mark of a list item; `none` if the paragraph is not an item. */
export type ListMark = "bullet" | "number" | "none";

/** The `lstStyle`s of shape, layout and master, nearest first. */
export type Styles = (Element | undefined)[];

const ownMark = (properties: Element | undefined): ListMark | undefined => {
  if (childNamed(properties, "buNone")) return "none";
  if (childNamed(properties, "buAutoNum")) return "number";
  return (childNamed(properties, "buChar") ?? childNamed(properties, "buBlip")) ? "bullet" : undefined;
};

/** The mark from the paragraph's own properties, else from the styles of its level. */
export const findMark = (properties: Element | undefined, level: number, styles: Styles): ListMark => {
  const own = ownMark(properties);
  if (own) return own;
  for (const style of styles) {
    const found = ownMark(findPath(style, `lvl${level + 1}pPr`));
    if (found) return found;
  }
  return "none";
};
