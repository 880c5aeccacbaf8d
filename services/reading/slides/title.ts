import type { ElementContent } from "hast";
import { childElements, textContent, type Element } from "../guard/xml.ts";
import { findPlaceholder } from "./design.ts";
import { descendantsNamed, childNamed, childrenNamed, localName } from "./localNames.ts";

export const isTitle = (shape: Element): boolean =>
  /^(?:ctrT|t)itle$/.test(findPlaceholder(shape)?.attributes["type"] ?? "");

const paragraphText = (paragraph: Element): string =>
  childElements(paragraph)
    .map((node) => (localName(node) === "br" ? " " : descendantsNamed(node, "t").map(textContent).join("")))
    .join("");

const oneLine = (shape: Element): string =>
  childrenNamed(childNamed(shape, "txBody"), "p").map(paragraphText).join(" ").replace(/\s+/g, " ").trim();

/** The title of a slide on one line, and its shape; further titles are part of the content. */
export const findTitle = (tree: Element | undefined): { title: string; shape?: Element } => {
  const shape = descendantsNamed(tree, "sp").find((node) => isTitle(node) && oneLine(node) !== "");
  return shape ? { title: oneLine(shape), shape } : { title: "" };
};

const space = (): ElementContent => ({ type: "text", value: " " });

const withoutBreaks = (node: ElementContent): ElementContent => {
  if (node.type !== "element") return node;
  return node.tagName === "br" ? space() : { ...node, children: node.children.map(withoutBreaks) };
};

/** The content of a line of a title, ready to be followed by the next one: a title is on one line. */
export const onOneLine = (content: ElementContent[]): ElementContent[] => [...content.map(withoutBreaks), space()];
