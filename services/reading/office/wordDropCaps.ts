import { findChild, type Element } from "../guard/xml.ts";

type Node = Element | string;

const isParagraph = (node: Node | undefined): node is Element => typeof node === "object" && node.name === "w:p";

const isDropCap = (node: Node | undefined): boolean => {
  if (!isParagraph(node)) return false;
  const kind = findChild(findChild(node, "w:pPr"), "w:framePr")?.attributes["w:dropCap"] ?? "none";
  return kind !== "none";
};

const isProperties = (node: Node): boolean => typeof node === "object" && node.name === "w:pPr";

/** Joins a drop cap, which is a separate paragraph, to the rest of its word. */
export const joinDropCaps = (nodes: Node[]): Node[] => {
  if (!nodes.some(isDropCap)) return nodes;
  return nodes.flatMap((node, index): Node[] => {
    const [before, after] = [nodes[index - 1], nodes[index + 1]];
    if (isDropCap(node) && isParagraph(after) && !isDropCap(after)) return [];
    if (!isParagraph(before) || !isDropCap(before) || !isParagraph(node) || isDropCap(node)) return [node];
    const letter = before.children.filter((child) => !isProperties(child));
    const properties = node.children.filter(isProperties);
    return [{ ...node, children: [...properties, ...letter, ...node.children.filter((one) => !isProperties(one))] }];
  });
};
