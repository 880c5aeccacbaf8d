import type { Element, ElementContent, Nodes, Parents } from "hast";

export const isElement = (node: Nodes | undefined): node is Element => node?.type === "element";

export const childNodes = (node: Nodes): Nodes[] => ("children" in node ? (node.children as Nodes[]) : []);

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

export const textContent = (node: Nodes): string =>
  node.type === "text" ? node.value : childNodes(node).map(textContent).join("");

/** Calls `visit` for each descendant element in document order, parents before their children. */
export const eachElement = (node: Nodes, visit: (found: Element, parent: Parents) => void): void => {
  for (const child of childNodes(node)) {
    if (!isElement(child)) continue;
    visit(child, node as Parents);
    eachElement(child, visit);
  }
};

/** Descendant elements that match, in document order. */
export const findElements = (node: Nodes, wanted: (found: Element) => boolean): Element[] => {
  const found: Element[] = [];
  eachElement(node, (child) => void (wanted(child) && found.push(child)));
  return found;
};

/** A copy of the tree without the descendants that `keep` rejects, and without their content. */
export const filterTree = <T extends Nodes>(node: T, keep: (child: Nodes, parent: Nodes) => boolean): T => {
  if (!("children" in node)) return node;
  const children = childNodes(node)
    .filter((child) => keep(child, node))
    .map((child) => filterTree(child, keep));
  return { ...node, children };
};

/** A property as text; "" if it is missing. */
export const property = (node: Element, name: string): string => {
  const value = node.properties[name];
  if (value === null || value === undefined || value === false) return "";
  return Array.isArray(value) ? value.join(" ") : String(value);
};

export const hasClass = (node: Element, pattern: RegExp): boolean =>
  property(node, "className")
    .split(/\s+/)
    .some((name) => pattern.test(name));
