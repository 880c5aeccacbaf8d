import { textContent, type Element } from "../guard/xml.ts";
import type { Styles } from "./listMarks.ts";
import { descendantsNamed, findPath } from "./localNames.ts";
import type { Parts } from "./parts.ts";

/** The parts of a layout and its master that matter to a slide. */
export interface Design {
  /** The layout is for title slides and section headers. */
  isOpening: boolean;
  /** Texts that the layout and its master show on every slide. */
  drawn: string[];
  /** The styles of a placeholder's paragraphs, nearest first. */
  placeholderStyles(placeholder: Element): Styles;
}

export const shapeTree = (root: Element | undefined): Element | undefined => findPath(root, "cSld", "spTree");

export const findPlaceholder = (shape: Element): Element | undefined => findPath(shape, "nvSpPr", "nvPr", "ph");

export const placeholderType = (placeholder: Element | undefined): string => placeholder?.attributes["type"] ?? "body";

const findStyle = (shapes: Element[], matches: (placeholder: Element) => boolean): Element | undefined => {
  const found = shapes.find((shape) => {
    const placeholder = findPlaceholder(shape);
    return placeholder !== undefined && matches(placeholder);
  });
  return findPath(found, "txBody", "lstStyle");
};

const drawnTexts = (shapes: readonly Element[]): string[] =>
  shapes
    .filter((shape) => findPlaceholder(shape) === undefined)
    .map((shape) => descendantsNamed(shape, "t").map(textContent).join(""));

/** Reads a layout. A placeholder inherits from the layout's of the same index and the master's of the same type. */
export const readDesign = (parts: Parts, layoutName: string): Design => {
  const layout = parts.xml(layoutName);
  const master = parts.xml(parts.related(layoutName, "slideMaster") ?? "");
  const [onLayout, onMaster] = [layout, master].map((root) => descendantsNamed(shapeTree(root), "sp"));
  const showsMaster = !/^(?:0|false)$/.test(layout?.attributes["showMasterSp"] ?? "");
  return {
    drawn: drawnTexts([...(onLayout ?? []), ...(showsMaster ? (onMaster ?? []) : [])]),
    isOpening: /^(?:title|secHead)$/.test(layout?.attributes["type"] ?? ""),
    placeholderStyles(placeholder) {
      const { idx } = placeholder.attributes;
      const type = placeholderType(placeholder);
      const general = type === "obj" || type === "subTitle" ? "body" : type;
      return [
        findStyle(onLayout ?? [], (other) =>
          idx === undefined ? placeholderType(other) === type : other.attributes["idx"] === idx,
        ),
        findStyle(onMaster ?? [], (other) => placeholderType(other) === general),
        findPath(master, "txStyles", "bodyStyle"),
      ];
    },
  };
};
