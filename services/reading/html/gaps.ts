import type { Nodes } from "hast";
import { childNodes, isElement } from "./tree.ts";

/* White space between blocks, which is how a page's source is laid out and nothing that is seen. */

const BLOCK =
  /^(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|html|legend|li|main|menu|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)$/;
/** White space counts in these. */
const VERBATIM = /^(?:pre|textarea|listing|plaintext|xmp)$/;

const isBlock = (node: Nodes | undefined): boolean => isElement(node) && BLOCK.test(node.tagName);

const isBlank = (node: Nodes): boolean => node.type === "text" && !/[^\t\n\f\r ]/.test(node.value);

/** The children without the blank texts that have blocks, or an edge of a block, on both sides. */
const withoutGaps = (node: Nodes, children: Nodes[]): Nodes[] => {
  const edge = node.type === "root" || isBlock(node);
  const kept: Nodes[] = [];
  let gap: Nodes[] = [];
  let isAfterBlock = edge;
  const endGap = (isBeforeBlock: boolean): void => {
    if (!isAfterBlock || !isBeforeBlock) for (const blank of gap) kept.push(blank);
    gap = [];
  };
  for (const child of children) {
    if (isBlank(child)) {
      gap.push(child);
      continue;
    }
    endGap(isBlock(child));
    isAfterBlock = isBlock(child);
    kept.push(child);
  }
  endGap(edge);
  return kept;
};

/**
 * Removes comments and the white space between blocks, in place. The library that converts the page would do so, too, but takes each
 * piece out of its list of children by itself: 150,000 entries take it a minute and a half.
 */
export const dropGaps = (node: Nodes): void => {
  if (!("children" in node) || (isElement(node) && VERBATIM.test(node.tagName))) return;
  const children = childNodes(node).filter(({ type }) => type !== "comment");
  node.children = withoutGaps(node, children) as typeof node.children;
  for (const child of childNodes(node)) dropGaps(child);
};
