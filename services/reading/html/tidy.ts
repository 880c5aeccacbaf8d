import type { Emphasis, List, ListItem, Nodes, Parents, PhrasingContent, RootContent, Strong } from "mdast";
import { plain } from "./cell.ts";

/* Word processors leave emphasis on spaces, halves of words and whole headings; Markdown has no way to write that. */

type Marked = Emphasis | Strong | Extract<PhrasingContent, { type: "delete" }>;

const isMarked = (node: Nodes | undefined): node is Marked =>
  node?.type === "strong" || node?.type === "emphasis" || node?.type === "delete";

const text = (value: string): PhrasingContent => ({ type: "text", value });

const mergeTexts = (nodes: PhrasingContent[]): PhrasingContent[] => {
  const merged: PhrasingContent[] = [];
  for (const node of nodes) {
    const last = merged.at(-1);
    if (node.type === "text" && last?.type === "text") merged[merged.length - 1] = text(last.value + node.value);
    else if (isMarked(node) && last?.type === node.type && isMarked(last)) {
      merged[merged.length - 1] = { ...last, children: mergeTexts([...last.children, ...node.children]) };
    } else merged.push(node);
  }
  return merged;
};

/** Spaces at the edge of emphasis, taken out of it. */
const hoisted = (node: Marked): PhrasingContent[] => {
  const children = [...node.children];
  const [first] = children;
  const before = first?.type === "text" ? (/^\s+/.exec(first.value)?.[0] ?? "") : "";
  if (first?.type === "text") children[0] = text(first.value.slice(before.length));
  const last = children.at(-1);
  const after = last?.type === "text" ? (/\s+$/.exec(last.value)?.[0] ?? "") : "";
  if (last?.type === "text")
    children[children.length - 1] = text(last.value.slice(0, last.value.length - after.length));
  const kept = children.filter((child) => child.type !== "text" || child.value !== "");
  if (plain(kept).trim() === "") return [text(before), ...kept, text(after)];
  return [text(before), { ...node, children: kept }, text(after)].filter(({ type, ...rest }) => {
    return type !== "text" || (rest as { value?: string }).value !== "";
  });
};

const LETTER = /[\p{L}\p{N}]/u;
const edge = (node: Nodes | undefined, at: "start" | "end"): string => {
  const whole = node ? (node.type === "break" ? " " : plain([node])) : "";
  return (at === "start" ? /^./su : /.$/su).exec(whole)?.[0] ?? "";
};

/** CommonMark opens and closes emphasis by what stands on both sides; inside a word only letters may meet it. */
const isWritable = (node: Marked, before: Nodes | undefined, after: Nodes | undefined): boolean => {
  const opens = LETTER.test(edge(node, "start")) || !LETTER.test(edge(before, "end"));
  const closes = LETTER.test(edge(node, "end")) || !LETTER.test(edge(after, "start"));
  return opens && closes && !isMarked(before) && !isMarked(after);
};

const unmarked = (nodes: PhrasingContent[]): PhrasingContent[] =>
  nodes.flatMap((node) => (isMarked(node) && node.type !== "delete" ? unmarked(node.children) : [node]));

/** Emphasis within the same emphasis says nothing, and writing it takes time that doubles with each level. */
const unnested = (nodes: PhrasingContent[], open: string[] = []): PhrasingContent[] =>
  nodes.flatMap((node): PhrasingContent[] => {
    if (!("children" in node)) return [node];
    if (open.includes(node.type)) return unnested(node.children, open);
    return [{ ...node, children: unnested(node.children, [...open, node.type]) }];
  });

const isGap = (node: PhrasingContent): boolean =>
  node.type === "break" || (node.type === "text" && node.value.trim() === "");

/** Line breaks and spaces at the edges of a block say nothing. */
const trimmed = (nodes: PhrasingContent[]): PhrasingContent[] => {
  const from = nodes.findIndex((node) => !isGap(node));
  return from === -1 ? [] : nodes.slice(from, nodes.findLastIndex((node) => !isGap(node)) + 1);
};

const tidyPhrasing = (nodes: PhrasingContent[]): PhrasingContent[] => {
  const clean = mergeTexts(nodes.map((node) => tidy(node) as PhrasingContent));
  const spaced = mergeTexts(clean.flatMap((node) => (isMarked(node) ? hoisted(node) : [node])));
  const written = spaced.flatMap((node, index) =>
    isMarked(node) && !isWritable(node, spaced[index - 1], spaced[index + 1]) ? node.children : [node],
  );
  return mergeTexts(written);
};

/** Indented lists without an item of their own belong to the item before, or stand where their own items should. */
const withoutBareItems = (items: ListItem[]): ListItem[] => {
  const kept: ListItem[] = [];
  for (const item of items) {
    const [only] = item.children;
    const last = kept.at(-1);
    if (only?.type !== "list" || item.children.length > 1) kept.push(item);
    else if (last) kept[kept.length - 1] = { ...last, children: [...last.children, only] };
    else kept.push(...only.children);
  }
  return kept;
};

const tidyList = (list: List): List => {
  const [only] = list.children.length === 1 ? (list.children[0]?.children ?? []) : [];
  const bare = only?.type === "list" && list.children[0]?.children.length === 1;
  return bare ? only : { ...list, children: withoutBareItems(list.children) };
};

/** A list is tight unless an item has more than one paragraph. */
const isLoose = (children: Nodes[]): boolean => children.filter(({ type }) => type === "paragraph").length > 1;

const EMPTIED = new Set(["paragraph", "heading", "list", "listItem", "blockquote"]);

const tidyAll = <T extends Nodes>(nodes: T[]): T[] =>
  nodes
    .map((node) => tidy(node) as T)
    .filter((node) => !(EMPTIED.has(node.type) && (node as Parents).children.length === 0));

/** Markdown's tree as it can be written: the same text, with emphasis only where it can stand. */
export const tidy = (node: Nodes): Nodes => {
  switch (node.type) {
    case "heading":
      return { ...node, children: trimmed(tidyPhrasing(unmarked(node.children))) };
    case "paragraph":
      return { ...node, children: trimmed(tidyPhrasing(unnested(node.children))) };
    case "tableCell":
      return { ...node, children: tidyPhrasing(unnested(node.children)) };
    case "emphasis":
    case "strong":
    case "delete":
    case "link":
      return { ...node, children: tidyPhrasing(node.children) };
    case "table": {
      const [header, ...rows] = node.children;
      const cells = header?.children.map((cell) => ({ ...cell, children: unmarked(cell.children) })) ?? [];
      return { ...node, children: tidyAll([{ type: "tableRow", children: cells }, ...rows]) };
    }
    case "list":
      return tidyList({ ...node, spread: false, children: tidyAll(node.children) });
    case "listItem": {
      const children = tidyAll(node.children);
      return { ...node, spread: isLoose(children), children };
    }
    default:
      return "children" in node
        ? ({ ...node, children: tidyAll((node as Parents).children as RootContent[]) } as Nodes)
        : node;
  }
};
