import type { ElementContent } from "hast";
import { elementsOf, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import type { Styles } from "./bullets.ts";
import { chartOf } from "./chart.ts";
import { placeholderOf } from "./design.ts";
import { nested } from "./lists.ts";
import { allNamed, at, childNamed, localName, reference } from "./names.ts";
import { paragraphsOf } from "./paragraphs.ts";
import type { Parts, Relation } from "./parts.ts";
import { tableOf } from "./table.ts";
import { isTitle } from "./title.ts";

/** What the shapes of one slide need to know. */
export interface Scene {
  parts: Parts;
  links: ReadonlyMap<string, Relation>;
  /** The styles that a placeholder takes from layout and master. */
  stylesOf(placeholder: Element): Styles;
}

/** The same on every slide. */
const FURNITURE = new Set(["dt", "ftr", "hdr", "sldNum"]);
const GENERATED = /\s*(?:Description automatically generated|AI-generated content may be incorrect).*$/s;
const FILE_NAME = /^\S+\.\w{3,4}$/;

const textShape = (shape: Element, { links, stylesOf }: Scene): ElementContent[] => {
  const placeholder = placeholderOf(shape);
  if (isTitle(shape) || FURNITURE.has(placeholder?.attributes["type"] ?? "")) return [];
  const body = childNamed(shape, "txBody");
  const styles = [childNamed(body, "lstStyle"), ...(placeholder ? stylesOf(placeholder) : [])];
  return nested(paragraphsOf(body, links, styles));
};

/** The boxes of a drawn scheme, in the order of its outline. */
const scheme = (node: Element, { parts, links }: Scene): ElementContent[] => {
  const data = parts.xml(links.get(reference(node, "dm"))?.target ?? "");
  const points = allNamed(data, "pt").filter(({ attributes }) => (attributes["type"] ?? "node") === "node");
  const items = points.flatMap((point) => paragraphsOf(childNamed(point, "t"), links, []));
  return nested(items.map((item) => ({ ...item, level: 0, mark: "bullet" })));
};

const graphic = (frame: Element, scene: Scene): ElementContent[] =>
  elementsOf(at(frame, "graphic", "graphicData") ?? frame).flatMap((node) => {
    const name = localName(node);
    if (name === "tbl") return [tableOf(node, scene.links)];
    if (name === "relIds") return scheme(node, scene);
    const chart = name === "chart" ? scene.parts.xml(scene.links.get(reference(node, "id"))?.target ?? "") : undefined;
    return chart ? chartOf(chart) : [];
  });

const picture = (node: Element): ElementContent[] => {
  const alt = at(node, "nvPicPr", "cNvPr")?.attributes["descr"]?.replace(GENERATED, "").trim() ?? "";
  return alt === "" || FILE_NAME.test(alt) ? [] : [element("p", [alt])];
};

/** The content of shapes as HTML, in the order in which they lie on the slide; its title is left out. */
export const shapesOf = (tree: Element | undefined, scene: Scene): ElementContent[] =>
  (tree ? elementsOf(tree) : []).flatMap((node) => {
    switch (localName(node)) {
      case "sp":
        return textShape(node, scene);
      case "grpSp":
        return shapesOf(node, scene);
      case "graphicFrame":
        return graphic(node, scene);
      case "pic":
        return picture(node);
      case "AlternateContent": {
        const [chosen = [], ...others] = elementsOf(node).map((way) => shapesOf(way, scene));
        return chosen.length > 0 ? chosen : (others[0] ?? []);
      }
      default:
        return [];
    }
  });
