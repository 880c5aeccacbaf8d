import type { AnyNode } from "acorn";

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

/** The nodes right below one, in the order of the text. */
export function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .toSorted((a, b) => a.start - b.start);
}

/**
 * Calls `visit` for a node and all below it, with those above it, the nearest last. No recursion: a source may nest as deep as
 * the parser goes.
 */
export function walk(root: AnyNode, visit: (node: AnyNode, above: readonly AnyNode[]) => void): void {
  const waiting: { node: AnyNode; depth: number }[] = [{ node: root, depth: 0 }];
  const above: AnyNode[] = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    above.length = next.depth;
    visit(next.node, above);
    above.push(next.node);
    const depth = next.depth + 1;
    waiting.push(
      ...childrenOf(next.node)
        .map((node) => ({ node, depth }))
        .toReversed(),
    );
  }
}
