import type { Element } from "../guard/xml.ts";
import type { Styles } from "./bullets.ts";
import { allNamed, at } from "./names.ts";
import type { Parts } from "./parts.ts";

/** What a slide takes from its layout and that layout's master. */
export interface Design {
  /** Made for slides that open the whole or a part of it. */
  opens: boolean;
  /** The styles of a placeholder's paragraphs, nearest first. */
  stylesOf(placeholder: Element): Styles;
}

export const treeOf = (root: Element | undefined): Element | undefined => at(root, "cSld", "spTree");

export const placeholderOf = (shape: Element): Element | undefined => at(shape, "nvSpPr", "nvPr", "ph");

export const typeOf = (placeholder: Element | undefined): string => placeholder?.attributes["type"] ?? "body";

const styleIn = (shapes: Element[], matches: (placeholder: Element) => boolean): Element | undefined => {
  const found = shapes.find((shape) => {
    const placeholder = placeholderOf(shape);
    return placeholder !== undefined && matches(placeholder);
  });
  return at(found, "txBody", "lstStyle");
};

/** A placeholder is its layout's of the same number, and its master's of the same type. */
export const designOf = (parts: Parts, layoutName: string): Design => {
  const layout = parts.xml(layoutName);
  const master = parts.xml(parts.related(layoutName, "slideMaster") ?? "");
  const [onLayout, onMaster] = [layout, master].map((root) => allNamed(treeOf(root), "sp"));
  return {
    opens: /^(?:title|secHead)$/.test(layout?.attributes["type"] ?? ""),
    stylesOf(placeholder) {
      const { idx } = placeholder.attributes;
      const type = typeOf(placeholder);
      const general = type === "obj" || type === "subTitle" ? "body" : type;
      return [
        styleIn(onLayout ?? [], (other) =>
          idx === undefined ? typeOf(other) === type : other.attributes["idx"] === idx,
        ),
        styleIn(onMaster ?? [], (other) => typeOf(other) === general),
        at(master, "txStyles", "bodyStyle"),
      ];
    },
  };
};
