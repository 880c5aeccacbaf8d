import { childElements, textContent, type Element } from "../guard/xml.ts";
import { findPlaceholder } from "./design.ts";
import { descendantsNamed, childNamed, childrenNamed, localName } from "./localNames.ts";

export const isTitle = (shape: Element): boolean =>
  /^(?:ctrT|t)itle$/.test(findPlaceholder(shape)?.attributes["type"] ?? "");

const paragraphText = (paragraph: Element): string =>
  childElements(paragraph)
    .map((node) => (localName(node) === "br" ? " " : descendantsNamed(node, "t").map(textContent).join("")))
    .join("");

/** The title of a slide on one line; "" without one. */
export const slideTitle = (tree: Element | undefined): string => {
  const shape = descendantsNamed(tree, "sp").find((node) => isTitle(node));
  const lines = childrenNamed(childNamed(shape, "txBody"), "p").map(paragraphText);
  return lines.join(" ").replace(/\s+/g, " ").trim();
};
