import type { AnyNode } from "acorn";

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

/** The direct children of a node, in source order. */
export function childNodes(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .toSorted((a, b) => a.start - b.start);
}

/**
 * Calls `visit` for a node and all its descendants, with their ancestors, the nearest last. It does not recurse: a source may
 * nest as deep as the parser allows.
 */
export function walkSyntax(root: AnyNode, visit: (node: AnyNode, ancestors: readonly AnyNode[]) => void): void {
  const waiting: { node: AnyNode; depth: number }[] = [{ node: root, depth: 0 }];
  const ancestors: AnyNode[] = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    ancestors.length = next.depth;
    visit(next.node, ancestors);
    ancestors.push(next.node);
    const depth = next.depth + 1;
    waiting.push(
      ...childNodes(next.node)
        .map((node) => ({ node, depth }))
        .toReversed(),
    );
  }
}
