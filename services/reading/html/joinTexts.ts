import type { Nodes, RootContent } from "mdast";

/**
 * Joins adjacent texts, in place. The conversion library does the same, but removes each text separately from its list and searches
 * the whole joined text each time: 60,000 words in separate elements take it minutes.
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
