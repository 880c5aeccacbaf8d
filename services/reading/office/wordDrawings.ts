import { childElements, findAll, findChild, textContent, type Element } from "../guard/xml.ts";
import { childNamed, findPath, localName } from "../slides/localNames.ts";
import { cleanDescription } from "./descriptions.ts";
import { makeElement, makeRun } from "./wordXml.ts";

/* Word's drawings in a form that the converter reads. It reads pictures, and the text boxes of alternatives for older programs. */

export const BOX = "w:txbxContent";

/** Marks a box with a description. The converter ignores it. */
const DESCRIPTION = "w:isDescription";

const isDescription = ({ attributes }: Element): boolean => attributes[DESCRIPTION] !== undefined;

export const descriptionBox = (text: string): Element =>
  makeElement(BOX, [makeElement("w:p", [makeRun(text)])], { [DESCRIPTION]: "1" });

/** Properties of shapes and groups, except those inside of text boxes. */
const shapeProperties = (node: Element): Element[] =>
  childElements(node).flatMap((child) => {
    if (child.name === BOX) return [];
    return localName(child) === "cNvPr" ? [child] : shapeProperties(child);
  });

/** Groups of shapes, and canvases. */
const GROUPS = new Set(["wgp", "wpc"]);
/** The converter reads the descriptions of pictures; charts and SmartArt graphics are read with their texts. */
const READ = new Set(["pic", "chart", "relIds"]);

export const isGroup = (node: Element): boolean => GROUPS.has(localName(node));

/** The descriptions of a group and of its shapes, or of a shape without text. */
const descriptionsOf = (drawing: Element): string[] => {
  const [anchor] = childElements(drawing);
  const [content] = childElements(findPath(anchor, "graphic", "graphicData") ?? drawing);
  if (!content || READ.has(localName(content))) return [];
  if (!isGroup(content) && findAll(drawing, BOX).length > 0) return [];
  const described = [childNamed(anchor, "docPr"), ...(isGroup(content) ? shapeProperties(content) : [])];
  const texts = described.map((one) => cleanDescription(one?.attributes["descr"]));
  return [...new Set(texts)].filter((text) => text !== "");
};

const GRAPHICS = new Set(["c:chart", "cx:chart", "dgm:relIds"]);

/** The charts and SmartArt graphics in an element, except those inside of text boxes, which belong to the paragraphs there. */
export const findGraphics = (node: Element): Element[] =>
  childElements(node).flatMap((child) => {
    if (child.name === BOX) return [];
    return GRAPHICS.has(child.name) ? [child] : findGraphics(child);
  });

/** A shape with text, as older programs draw it. */
export const boxShape = (boxes: readonly Element[]): Element =>
  makeElement("v:shape", [makeElement("v:textbox", [...boxes])]);

const boxesIn = (boxes: readonly Element[]): Element => makeElement("w:pict", [boxShape(boxes)]);

/** Text boxes as an alternative for older programs. The charts beside them stay, because they are read with their paragraph. */
const alternative = (boxes: readonly Element[], around: Element): Element =>
  makeElement("mc:AlternateContent", [
    makeElement("mc:Choice", findGraphics(around)),
    makeElement("mc:Fallback", [boxesIn(boxes)]),
  ]);

/** Keeps the text boxes of a drawing, and the descriptions that the converter does not read. */
export const rewriteDrawing = (drawing: Element): Element => {
  const boxes = [...descriptionsOf(drawing).map(descriptionBox), ...findAll(drawing, BOX)];
  return boxes.length === 0 ? drawing : alternative(boxes, drawing);
};

/** The descriptions that the converter already reads in the fallback, such as that of the picture in place of a 3D model. */
const shownDescriptions = (fallback: Element): Set<string | undefined> =>
  new Set([
    ...findAll(fallback, "w:drawing")
      .filter((drawing) => findAll(drawing, "a:blip").length > 0)
      .flatMap((drawing) => findAll(drawing, "wp:docPr").map(({ attributes }) => attributes["descr"])),
    ...findAll(fallback, BOX).filter(isDescription).map(textContent),
  ]);

/** The text of an element without descriptions. */
const ownText = (node: Element): string =>
  isDescription(node)
    ? ""
    : node.children.map((child) => (typeof child === "string" ? child : ownText(child))).join("");

/** Boxes without repeated descriptions. */
const uniqueBoxes = (boxes: readonly Element[]): Element[] => {
  const seen = new Set<string>();
  return boxes.filter((box) => {
    const text = isDescription(box) ? textContent(box) : "";
    const isRepeated = text !== "" && seen.has(text);
    seen.add(text);
    return !isRepeated;
  });
};

/** Keeps the descriptions and text boxes of an alternative: in its fallback, or in a new one if that has no text. */
export const rewriteAlternatives = (element: Element): Element => {
  const fallback = findChild(element, "mc:Fallback");
  const hasText = fallback !== undefined && ownText(fallback).trim() !== "";
  const boxes = uniqueBoxes(findAll(element, BOX));
  if (!hasText && boxes.some((box) => !isDescription(box))) return alternative(boxes, element);
  const choices = childElements(element).filter((child) => child !== fallback);
  const shown = fallback ? shownDescriptions(fallback) : new Set();
  const described = choices
    .flatMap((choice) => findAll(choice, BOX))
    .filter((box) => isDescription(box) && !shown.has(textContent(box)));
  if (described.length === 0) return element;
  if (!fallback) return alternative(described, element);
  return { ...element, children: [...choices, { ...fallback, children: [boxesIn(described), ...fallback.children] }] };
};
