import type { Element, Nodes } from "hast";
import { childNodes, isElement, property } from "./tree.ts";

/* The description of a picture is read at its place, which is often directly at a word: word processors put no space there. */

const isPicture = (node: Nodes): node is Element =>
  isElement(node) && (node.tagName === "img" || node.tagName === "image");

const LETTER = /[\p{L}\p{N}]/u;
/** Maximum nesting of the elements around a picture or a text. */
const MAX_DEPTH = 20;

interface Edge {
  /** The outermost character; "" if there is none. */
  sign: string;
  isPicture: boolean;
}

/** A picture of one letter, such as an initial, is a part of its word. */
const pictureEdge = (picture: Element, side: 0 | -1): Edge => {
  const description = property(picture, "alt").trim();
  return { sign: description.length > 1 ? (description.at(side) ?? "") : "", isPicture: true };
};

const edgeOf = (outer: Nodes, side: 0 | -1): Edge => {
  let node: Nodes | undefined = outer;
  for (let depth = 0; node && depth < MAX_DEPTH; depth += 1) {
    if (node.type === "text") return { sign: node.value.at(side) ?? "", isPicture: false };
    if (isPicture(node)) return pictureEdge(node, side);
    node = childNodes(node).at(side);
  }
  return { sign: "", isPicture: false };
};

/** Whether the description of a picture touches a word or another description. */
const touch = (before: Nodes, after: Nodes): boolean => {
  const [end, start] = [edgeOf(before, -1), edgeOf(after, 0)];
  return (end.isPicture || start.isPicture) && LETTER.test(end.sign) && LETTER.test(start.sign);
};

const separate = (node: Nodes): void => {
  if (!("children" in node)) return;
  const children = childNodes(node);
  const separated: Nodes[] = [];
  for (const [index, child] of children.entries()) {
    separate(child);
    const before = children[index - 1];
    if (before && touch(before, child)) separated.push({ type: "text", value: " " });
    separated.push(child);
  }
  node.children = separated as typeof node.children;
};

const hasPicture = (node: Nodes): boolean => isPicture(node) || childNodes(node).some(hasPicture);

/** Puts a space between the descriptions of pictures and the words that they touch, in place. */
export const separatePictures = (root: Nodes): void => {
  if (hasPicture(root)) separate(root);
};
