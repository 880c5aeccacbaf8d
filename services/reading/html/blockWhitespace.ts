import type { Nodes } from "hast";
import { childNodes, isElement } from "./tree.ts";

/* White space between blocks comes from the layout of the page's source and is invisible. */

const BLOCK =
  /^(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|html|legend|li|main|menu|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)$/;
/** White space is significant in these elements. */
const VERBATIM = /^(?:pre|textarea|listing|plaintext|xmp)$/;

const isBlock = (node: Nodes | undefined): boolean => isElement(node) && BLOCK.test(node.tagName);

const isBlank = (node: Nodes): boolean => node.type === "text" && !/[^\t\n\f\r ]/.test(node.value);

/** The children without blank texts between blocks, or between a block and an edge. */
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
 * Removes comments and the white space between blocks, in place. The conversion library does the same, but removes each node
 * separately from its list of children: 150,000 entries take it a minute and a half.
 */
export const dropBlockWhitespace = (node: Nodes): void => {
  if (!("children" in node) || (isElement(node) && VERBATIM.test(node.tagName))) return;
  const children = childNodes(node).filter(({ type }) => type !== "comment");
  node.children = withoutGaps(node, children) as typeof node.children;
  for (const child of childNodes(node)) dropBlockWhitespace(child);
};
