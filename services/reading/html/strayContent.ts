import type { Element, ElementContent, Nodes } from "hast";
import { eachElement, element, isElement } from "./tree.ts";

/* Editors and e-mail programs put deeper lists and paragraphs between the items of a list. Browsers show them below the item before. */

const LIST = /^(?:ol|ul|menu|dir)$/;
/** A heading belongs to the item after it. */
const HEADING = /^h[1-6]$/;

/** Whether a child of a list is an item, or contains items of this list. */
const hasItems = (node: Nodes): boolean =>
  isElement(node) && (node.tagName === "li" || (!LIST.test(node.tagName) && node.children.some(hasItems)));

/** A block of its own, so that words do not run into those of the item. */
const asBlock = (node: ElementContent): ElementContent => (node.type === "text" ? element("p", [node]) : node);

const adopt = (list: Element): void => {
  const kept: ElementContent[] = [];
  let item: Element | undefined;
  for (const child of list.children) {
    if (isElement(child) && (hasItems(child) || HEADING.test(child.tagName)))
      item = child.tagName === "li" ? child : undefined;
    else if (item) {
      item.children.push(asBlock(child));
      continue;
    }
    kept.push(child);
  }
  list.children = kept;
};

/** Moves content between the items of a list into the item before, in place. */
export const adoptStrayContent = (tree: Nodes): void =>
  eachElement(tree, (node) => {
    if (LIST.test(node.tagName)) adopt(node);
  });
