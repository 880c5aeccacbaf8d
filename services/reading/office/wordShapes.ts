import { findAll, textContent, type Element } from "../guard/xml.ts";
import { cleanDescription } from "./descriptions.ts";
import { BOX, boxShape, descriptionBox } from "./wordDrawings.ts";

/* Descriptions of the shapes of older programs (VML), in a form that the converter reads. */

/** The description of a shape; "" if it has none. */
export const shapeDescription = ({ name, attributes }: Element): string =>
  name.startsWith("v:") ? cleanDescription(attributes["alt"]) : "";

const hasText = (shape: Element): boolean => findAll(shape, BOX).some((box) => textContent(box).trim() !== "");

/**
 * Adds the descriptions of pictures, of shapes without text, and of groups and their shapes. `shown`: the descriptions so far, because
 * programs copy the description of a group to its shapes.
 */
export const describeShapes = (element: Element, shown = new Set<string>(), inGroup = false): Element => {
  const text = shapeDescription(element);
  const isGroup = element.name === "v:group";
  const isAdded = text !== "" && !shown.has(text) && (isGroup || inGroup || !hasText(element));
  shown.add(text);
  const children = element.children.map((child) =>
    typeof child === "string" || child.name === BOX ? child : describeShapes(child, shown, inGroup || isGroup),
  );
  return { ...element, children: isAdded ? [boxShape([descriptionBox(text)]), ...children] : children };
};
