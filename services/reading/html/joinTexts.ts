import type { Nodes, RootContent } from "mdast";

/**
 * Joins texts that follow each other, in place. The library that converts pages would do so, too, but takes each text out of its list
 * by itself and searches all of the joined text each time: 60,000 words in elements of their own take it minutes.
 */
export function joinTexts(node: Nodes): void {
  if (!("children" in node)) return;
  const children: RootContent[] = [];
  for (let at = 0; at < node.children.length; ) {
    const first = node.children[at++]!;
    children.push(first);
    if (first.type !== "text") {
      joinTexts(first);
      continue;
    }
    const values = [first.value];
    for (let next = node.children[at]; next?.type === "text"; next = node.children[++at]) values.push(next.value);
    first.value = values.join("");
  }
  node.children = children as typeof node.children;
}
