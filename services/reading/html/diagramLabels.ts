import type { Element, Nodes } from "hast";
import { childNodes, isElement, property } from "./tree.ts";

/* The labels of a drawing (SVG). Parts that the source places one by one are separate words, although no space separates them. */

const isLabel = ({ tagName }: Element): boolean => tagName === "text" || tagName === "foreignObject";

/** The children that are shown: of a `switch` the first one, because the others replace it in programs that cannot show it. */
const shownChildren = (node: Nodes): Nodes[] => {
  const children = childNodes(node);
  if (!isElement(node) || node.tagName !== "switch") return children;
  const first = children.find(isElement);
  return first ? [first] : [];
};

const labelsIn = (node: Nodes): Element[] =>
  shownChildren(node).flatMap((child) => {
    if (!isElement(child)) return [];
    return isLabel(child) ? [child] : labelsIn(child);
  });

/** Parts of a page in a drawing that are lines of their own, and texts that a program shows beside a label. */
const APART =
  /^(?:br|hr|p|div|section|article|li|ul|ol|dl|dt|dd|table|tr|td|th|h[1-6]|pre|blockquote|title|desc|text|textPath)$/;

/** The last part of a label that has a place of its own. */
interface PlacedPart {
  y: string;
  isLetter: boolean;
}

const hasOneLetter = ({ children }: Element): boolean => {
  const [only] = children;
  return children.length === 1 && only?.type === "text" && Array.from(only.value.slice(0, 3).trim()).length === 1;
};

/**
 * Whether a part begins a word: it has a place of its own, and is not the next letter in a row of letters that are placed one by one.
 * Updates `last`.
 */
const beginsWord = (part: Element, last: PlacedPart): boolean => {
  const [x, y, shift] = ["x", "y", "dy"].map((name) => property(part, name));
  if (!x && !y) return false;
  const isSameLine = (!y || y === last.y) && Number.parseFloat(shift || "0") === 0;
  const isLetter = hasOneLetter(part);
  const continues = isSameLine && isLetter && last.isLetter;
  last.y = y || last.y;
  last.isLetter = isLetter;
  return !continues;
};

const labelText = (label: Element): string => {
  const pieces: string[] = [];
  const last: PlacedPart = { y: property(label, "y"), isLetter: false };
  const visit = (node: Nodes): void => {
    if (node.type === "text") pieces.push(node.value);
    if (!isElement(node)) return;
    const isApart = APART.test(node.tagName);
    if (isApart || (node.tagName === "tspan" && beginsWord(node, last))) pieces.push(" ");
    for (const child of shownChildren(node)) visit(child);
    if (isApart) pieces.push(" ");
  };
  visit(label);
  return pieces.join("").replace(/\s+/g, " ").trim();
};

/** The labels of a drawing, in the order of its source. Icons have none. */
export const diagramLabels = (drawing: Element): string[] => labelsIn(drawing).map(labelText).filter(Boolean);
