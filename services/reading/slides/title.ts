import { elementsOf, textOf, type Element } from "../guard/xml.ts";
import { placeholderOf } from "./design.ts";
import { allNamed, childNamed, childrenNamed, localName } from "./names.ts";

export const isTitle = (shape: Element): boolean =>
  /^(?:ctrT|t)itle$/.test(placeholderOf(shape)?.attributes["type"] ?? "");

const lineOf = (paragraph: Element): string =>
  elementsOf(paragraph)
    .map((node) => (localName(node) === "br" ? " " : allNamed(node, "t").map(textOf).join("")))
    .join("");

/** The title of a slide on one line; empty where it has none. */
export const titleOf = (tree: Element | undefined): string => {
  const shape = allNamed(tree, "sp").find((node) => isTitle(node));
  const lines = childrenNamed(childNamed(shape, "txBody"), "p").map(lineOf);
  return lines.join(" ").replace(/\s+/g, " ").trim();
};
