import type { Element, ElementContent, Nodes, Parents } from "hast";

/* What every pass over an HTML tree needs. */

export const isElement = (node: Nodes | undefined): node is Element => node?.type === "element";

export const childrenOf = (node: Nodes): Nodes[] => ("children" in node ? (node.children as Nodes[]) : []);

export const element = (
  tagName: string,
  children: (ElementContent | string)[] = [],
  properties: Element["properties"] = {},
): Element => ({
  type: "element",
  tagName,
  properties,
  children: children.map((child) => (typeof child === "string" ? { type: "text", value: child } : child)),
});

export const textOf = (node: Nodes): string =>
  node.type === "text" ? node.value : childrenOf(node).map(textOf).join("");

/** Calls `visit` for each element below, in document order; children are looked at after their parent. */
export const eachElement = (node: Nodes, visit: (found: Element, parent: Parents) => void): void => {
  for (const child of childrenOf(node)) {
    if (!isElement(child)) continue;
    visit(child, node as Parents);
    eachElement(child, visit);
  }
};

/** Elements below for which `wanted` holds, in document order. */
export const findElements = (node: Nodes, wanted: (found: Element) => boolean): Element[] => {
  const found: Element[] = [];
  eachElement(node, (child) => void (wanted(child) && found.push(child)));
  return found;
};

/** Keeps only the nodes below for which `keep` holds; what is below a removed one goes with it. */
export const filterTree = <T extends Nodes>(node: T, keep: (child: Nodes, parent: Nodes) => boolean): T => {
  if (!("children" in node)) return node;
  const children = childrenOf(node)
    .filter((child) => keep(child, node))
    .map((child) => filterTree(child, keep));
  return { ...node, children };
};

/** A property as text; "" where it is missing. */
export const property = (node: Element, name: string): string => {
  const value = node.properties[name];
  if (value === null || value === undefined || value === false) return "";
  return Array.isArray(value) ? value.join(" ") : String(value);
};

export const hasClass = (node: Element, pattern: RegExp): boolean =>
  property(node, "className")
    .split(/\s+/)
    .some((name) => pattern.test(name));
