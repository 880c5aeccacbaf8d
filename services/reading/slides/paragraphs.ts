import type { ElementContent } from "hast";
import { elementsOf, textOf, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { texOfOmml } from "../office/omml.ts";
import { markOf, type Styles } from "./bullets.ts";
import type { Paragraph } from "./lists.ts";
import { allNamed, at, childNamed, childrenNamed, localName, reference } from "./names.ts";
import type { Relation } from "./parts.ts";

type Links = ReadonlyMap<string, Relation>;

const text = (value: string): ElementContent => ({ type: "text", value });

const equation = (math: Element): ElementContent =>
  element("math", [element("annotation", [texOfOmml(math)], { encoding: "application/x-tex" })]);

const run = (node: Element, links: Links): ElementContent[] => {
  const value = text(allNamed(node, "t").map(textOf).join(""));
  const click = at(node, "rPr", "hlinkClick");
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
      return elementsOf(node).flatMap((child) => inline(child, links));
    default:
      return [];
  }
};

const levelOf = (properties: Element | undefined): number => {
  const level = Number(properties?.attributes["lvl"] ?? 0);
  return level >= 0 && level < 9 ? level : 0;
};

const saysSomething = (part: ElementContent): boolean =>
  part.type === "text" ? part.value.trim() !== "" : part.type === "element" && part.children.length > 0;

/** The paragraphs of a text body that say something. */
export const paragraphsOf = (body: Element | undefined, links: Links, styles: Styles): Paragraph[] =>
  childrenNamed(body, "p").flatMap((node) => {
    const content = elementsOf(node).flatMap((child) => inline(child, links));
    if (!content.some(saysSomething)) return [];
    const properties = childNamed(node, "pPr");
    const level = levelOf(properties);
    return [{ level, mark: markOf(properties, level, styles), content }];
  });
