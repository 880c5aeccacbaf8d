import type { ElementContent } from "hast";
import { childElements, textContent, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { ommlToTex } from "../office/omml.ts";
import { findMark, type Styles } from "./listMarks.ts";
import type { Paragraph } from "./nestLists.ts";
import { descendantsNamed, findPath, childNamed, childrenNamed, localName, reference } from "./localNames.ts";
import type { Relation } from "./parts.ts";

type Links = ReadonlyMap<string, Relation>;

const text = (value: string): ElementContent => ({ type: "text", value });

const equation = (math: Element): ElementContent =>
  element("math", [element("annotation", [ommlToTex(math)], { encoding: "application/x-tex" })]);

const run = (node: Element, links: Links): ElementContent[] => {
  const value = text(descendantsNamed(node, "t").map(textContent).join(""));
  const click = findPath(node, "rPr", "hlinkClick");
  const link = click && links.get(reference(click, "id"));
  return [link?.external ? element("a", [value], { href: link.target }) : value];
};

const inline = (node: Element, links: Links): ElementContent[] => {
  switch (localName(node)) {
    case "r":
    case "fld":
      return run(node, links);
    case "br":
      return [element("br")];
    case "oMath":
      return [equation(node)];
    case "m":
    case "oMathPara":
    case "AlternateContent":
    case "Choice":
      return childElements(node).flatMap((child) => inline(child, links));
    default:
      return [];
  }
};

const indentLevel = (properties: Element | undefined): number => {
  const level = Number(properties?.attributes["lvl"] ?? 0);
  return level >= 0 && level < 9 ? level : 0;
};

const hasContent = (part: ElementContent): boolean =>
  part.type === "text" ? part.value.trim() !== "" : part.type === "element" && part.children.length > 0;

/** The paragraphs of a text body that have content. */
export const readParagraphs = (body: Element | undefined, links: Links, styles: Styles): Paragraph[] =>
  childrenNamed(body, "p").flatMap((node) => {
    const content = childElements(node).flatMap((child) => inline(child, links));
    if (!content.some(hasContent)) return [];
    const properties = childNamed(node, "pPr");
    const level = indentLevel(properties);
    return [{ level, ...findMark(properties, level, styles), content }];
  });
