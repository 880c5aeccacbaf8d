import type { ElementContent } from "hast";
import { childElements, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import type { Styles } from "./listMarks.ts";
import { chartToHtml, openChart } from "./chart.ts";
import { diagramToHtml } from "./diagram.ts";
import { REPEATED_PLACEHOLDERS } from "./headers.ts";
import { findPlaceholder } from "./design.ts";
import { nestLists } from "./nestLists.ts";
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

const textShape = (shape: Element, { links, title, placeholderStyles }: SlideContext): ElementContent[] => {
  const placeholder = findPlaceholder(shape);
  if (shape === title || REPEATED_PLACEHOLDERS.has(placeholder?.attributes["type"] ?? "")) return [];
  const body = childNamed(shape, "txBody");
  const styles = [
    childNamed(body, "lstStyle"),
    ...(placeholder && !isTitle(shape) ? placeholderStyles(placeholder) : []),
  ];
  const paragraphs = readParagraphs(body, links, styles);
  return paragraphs.length > 0 ? nestLists(paragraphs) : description(shape, "nvSpPr");
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

/** The content of shapes as HTML, in the order of the slide, without its title. */
export const shapesToHtml = (tree: Element | undefined, scene: SlideContext): ElementContent[] =>
  (tree ? childElements(tree) : []).flatMap((node) => {
    switch (localName(node)) {
      case "sp":
        return textShape(node, scene);
      case "cxnSp":
        return description(node, "nvCxnSpPr");
      case "grpSp":
        return [...description(node, "nvGrpSpPr"), ...shapesToHtml(node, scene)];
      case "graphicFrame": {
        const read = graphic(node, scene);
        return read.length > 0 ? read : description(node, "nvGraphicFramePr");
      }
      case "pic":
        return description(node, "nvPicPr");
      case "AlternateContent": {
        const [chosen = [], ...others] = childElements(node).map((way) => shapesToHtml(way, scene));
        return chosen.length > 0 ? chosen : (others[0] ?? []);
      }
      default:
        return [];
    }
  });
