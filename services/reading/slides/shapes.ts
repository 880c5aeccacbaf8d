import type { ElementContent } from "hast";
import { childElements, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import type { Styles } from "./listMarks.ts";
import { chartToHtml, openChart } from "./chart.ts";
import { diagramToHtml } from "./diagram.ts";
import { REPEATED_PLACEHOLDERS } from "./headers.ts";
import { findPlaceholder } from "./design.ts";
import { nestLists, type Paragraph } from "./nestLists.ts";
import { findPath, childNamed, localName, reference } from "./localNames.ts";
import { readParagraphs } from "./paragraphs.ts";
import { cleanDescription } from "../office/descriptions.ts";
import type { Parts, Relation } from "./parts.ts";
import { tableToHtml } from "./table.ts";
import { isTitle } from "./title.ts";

export interface SlideContext {
  parts: Parts;
  links: ReadonlyMap<string, Relation>;
  /** The shape of the title, which is read before. */
  title: Element | undefined;
  /** The styles that a placeholder inherits from layout and master. */
  placeholderStyles(placeholder: Element): Styles;
}

/** The address that a click on a shape, picture, graphic or group opens; "" if there is none. */
export const clickAddress = (node: Element, kind: Properties, { links }: Pick<SlideContext, "links">): string => {
  const click = findPath(node, kind, "cNvPr", "hlinkClick");
  const link = click && links.get(reference(click, "id"));
  return link?.external ? link.target : "";
};

export const isLink = (node: ElementContent): boolean => node.type === "element" && node.tagName === "a";

export const linkTo = (href: string, content: ElementContent[]): ElementContent[] =>
  href === "" || content.some(isLink) ? content : [element("a", content, { href })];

/** The paragraphs of a shape. The first one leads to the address of the shape, so that it is not repeated. */
const linkShape = (href: string, [first, ...rest]: Paragraph[]): Paragraph[] =>
  first ? [{ ...first, content: linkTo(href, first.content) }, ...rest] : [];

const textShape = (shape: Element, scene: SlideContext): ElementContent[] => {
  const { links, title, placeholderStyles } = scene;
  const placeholder = findPlaceholder(shape);
  if (shape === title || REPEATED_PLACEHOLDERS.has(placeholder?.attributes["type"] ?? "")) return [];
  const body = childNamed(shape, "txBody");
  const styles = [
    childNamed(body, "lstStyle"),
    ...(placeholder && !isTitle(shape) ? placeholderStyles(placeholder) : []),
  ];
  const paragraphs = readParagraphs(body, links, styles);
  if (paragraphs.length === 0) return linkedDescription(shape, "nvSpPr", scene);
  return nestLists(linkShape(clickAddress(shape, "nvSpPr", scene), paragraphs));
};

const graphic = (frame: Element, scene: SlideContext): ElementContent[] =>
  childElements(findPath(frame, "graphic", "graphicData") ?? frame).flatMap((node) => {
    const name = localName(node);
    if (name === "tbl") return [tableToHtml(node, scene.links)];
    if (name === "relIds")
      return diagramToHtml(scene.parts.xml(scene.links.get(reference(node, "dm"))?.target ?? ""), scene.links);
    const chart =
      name === "chart" ? openChart(scene.parts, scene.links.get(reference(node, "id"))?.target ?? "") : undefined;
    return chart ? chartToHtml(chart) : [];
  });

type Properties = "nvPicPr" | "nvGraphicFramePr" | "nvGrpSpPr" | "nvSpPr" | "nvCxnSpPr";

/** The description of a picture, graphic, shape or group. `kind`: the element that has it. */
export const description = (node: Element, kind: Properties): ElementContent[] => {
  const alt = cleanDescription(findPath(node, kind, "cNvPr")?.attributes["descr"]);
  return alt === "" ? [] : [element("p", [alt])];
};

const linkedDescription = (node: Element, kind: Properties, scene: SlideContext): ElementContent[] =>
  description(node, kind).map((part) =>
    part.type === "element" ? { ...part, children: linkTo(clickAddress(node, kind, scene), part.children) } : part,
  );

/** The content of shapes as HTML, in the order of the slide, without its title. */
export const shapesToHtml = (tree: Element | undefined, scene: SlideContext): ElementContent[] =>
  (tree ? childElements(tree) : []).flatMap((node) => {
    switch (localName(node)) {
      case "sp":
        return textShape(node, scene);
      case "cxnSp":
        return linkedDescription(node, "nvCxnSpPr", scene);
      case "grpSp":
        return [...linkedDescription(node, "nvGrpSpPr", scene), ...shapesToHtml(node, scene)];
      case "graphicFrame": {
        const read = graphic(node, scene);
        return read.length > 0 ? read : linkedDescription(node, "nvGraphicFramePr", scene);
      }
      case "pic":
        return linkedDescription(node, "nvPicPr", scene);
      case "AlternateContent": {
        const [chosen = [], ...others] = childElements(node).map((way) => shapesToHtml(way, scene));
        return chosen.length > 0 ? chosen : (others[0] ?? []);
      }
      default:
        return [];
    }
  });
