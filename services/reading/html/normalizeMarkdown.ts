import type { Emphasis, List, ListItem, Nodes, Parents, PhrasingContent, RootContent, Strong } from "mdast";
import { plainText } from "./cellContent.ts";
import { numberOf } from "./itemNumbers.ts";

/* Word processors emphasize spaces, parts of words and whole headings, which Markdown cannot express. */

type EmphasisNode = Emphasis | Strong | Extract<PhrasingContent, { type: "delete" }>;

const isEmphasis = (node: Nodes | undefined): node is EmphasisNode =>
  node?.type === "strong" || node?.type === "emphasis" || node?.type === "delete";

const text = (value: string): PhrasingContent => ({ type: "text", value });

const mergeTexts = (nodes: PhrasingContent[]): PhrasingContent[] => {
  const merged: PhrasingContent[] = [];
  for (const node of nodes) {
    const last = merged.at(-1);
    if (node.type === "text" && last?.type === "text") merged[merged.length - 1] = text(last.value + node.value);
    else if (isEmphasis(node) && last?.type === node.type && isEmphasis(last)) {
      for (const child of node.children) last.children.push(child);
    } else merged.push(isEmphasis(node) ? { ...node, children: [...node.children] } : node);
  }
  return merged.map((node) => (isEmphasis(node) ? { ...node, children: mergeTexts(node.children) } : node));
};

/** Moves spaces at the edges of emphasis out of it. */
const hoistSpaces = (node: EmphasisNode): PhrasingContent[] => {
  const children = [...node.children];
  const [first] = children;
  const before = first?.type === "text" ? (/^\s+/.exec(first.value)?.[0] ?? "") : "";
  if (first?.type === "text") children[0] = text(first.value.slice(before.length));
  const last = children.at(-1);
  const after = last?.type === "text" ? (/\s+$/.exec(last.value)?.[0] ?? "") : "";
  if (last?.type === "text")
    children[children.length - 1] = text(last.value.slice(0, last.value.length - after.length));
  const content = children.filter((child) => child.type !== "text" || child.value !== "");
  if (plainText(content).trim() === "") return [text(before), ...content, text(after)];
  return [text(before), { ...node, children: content }, text(after)].filter(({ type, ...rest }) => {
    return type !== "text" || (rest as { value?: string }).value !== "";
  });
};

const LETTER = /[\p{L}\p{N}]/u;
const edgeCharacter = (node: Nodes | undefined, at: "start" | "end"): string => {
  const whole = node ? (node.type === "break" ? " " : plainText([node])) : "";
  return (at === "start" ? /^./su : /.$/su).exec(whole)?.[0] ?? "";
};

/** Whether CommonMark would read the emphasis back: inside a word only letters may touch its marks. */
const isWritable = (node: EmphasisNode, before: Nodes | undefined, after: Nodes | undefined): boolean => {
  const opens = LETTER.test(edgeCharacter(node, "start")) || !LETTER.test(edgeCharacter(before, "end"));
  const closes = LETTER.test(edgeCharacter(node, "end")) || !LETTER.test(edgeCharacter(after, "start"));
  return opens && closes && !isEmphasis(before) && !isEmphasis(after);
};

const stripEmphasis = (nodes: PhrasingContent[]): PhrasingContent[] =>
  nodes.flatMap((node) => (isEmphasis(node) && node.type !== "delete" ? stripEmphasis(node.children) : [node]));

/** Removes emphasis inside the same emphasis. It has no effect, and writing it takes exponential time. */
const flattenEmphasis = (nodes: PhrasingContent[], open: string[] = []): PhrasingContent[] =>
  nodes.flatMap((node): PhrasingContent[] => {
    if (!("children" in node)) return [node];
    if (open.includes(node.type)) return flattenEmphasis(node.children, open);
    return [{ ...node, children: flattenEmphasis(node.children, [...open, node.type]) }];
  });

const isGap = (node: PhrasingContent): boolean =>
  node.type === "break" || (node.type === "text" && node.value.trim() === "");

/** Removes line breaks and spaces at the edges of a block. */
const trimGaps = (nodes: PhrasingContent[]): PhrasingContent[] => {
  const from = nodes.findIndex((node) => !isGap(node));
  return from === -1 ? [] : nodes.slice(from, nodes.findLastIndex((node) => !isGap(node)) + 1);
};

const tidyPhrasing = (nodes: PhrasingContent[]): PhrasingContent[] => {
  const clean = mergeTexts(nodes.map((node) => normalizeMarkdown(node) as PhrasingContent));
  const spaced = mergeTexts(clean.flatMap((node) => (isEmphasis(node) ? hoistSpaces(node) : [node])));
  const written = spaced.flatMap((node, index) =>
    isEmphasis(node) && !isWritable(node, spaced[index - 1], spaced[index + 1]) ? node.children : [node],
  );
  return mergeTexts(written);
};

/**
 * Moves a list that is the only content of an item into the item before. Without one, its items replace the item, unless numbers of
 * either list would be lost or wrong.
 */
const mergeBareItems = ({ ordered, children: items }: List): ListItem[] => {
  const merged: ListItem[] = [];
  /** The last item with words of its own. */
  let above: ListItem | undefined;
  for (const item of items) {
    const [only] = item.children;
    const bare = only?.type === "list" && item.children.length === 1 ? only : undefined;
    if (bare && above) above.children.push(bare);
    else if (bare && !bare.ordered && !ordered) for (const inner of bare.children) merged.push(inner);
    else {
      const kept = { ...item, children: [...item.children] };
      merged.push(kept);
      if (!bare) above = kept;
    }
  }
  return merged;
};

const tidyList = (list: List): List => {
  const [only] = list.children.length === 1 ? (list.children[0]?.children ?? []) : [];
  const bare = only?.type === "list" && list.children[0]?.children.length === 1;
  return bare ? only : { ...list, children: mergeBareItems(list) };
};

/** The items with their numbers, because later ones keep theirs where an item without words is dropped or merged. */
const numberItems = (list: List): ListItem[] =>
  list.ordered
    ? list.children.map((item, index) => ({ ...item, data: { ...item.data, number: numberOf(list, item, index) } }))
    : list.children;

/** A list is tight unless an item has more than one paragraph. */
const isLoose = (children: Nodes[]): boolean => children.filter(({ type }) => type === "paragraph").length > 1;

const DROPPED_IF_EMPTY = new Set(["paragraph", "heading", "list", "listItem", "blockquote"]);

const tidyAll = <T extends Nodes>(nodes: T[]): T[] =>
  nodes
    .map((node) => normalizeMarkdown(node) as T)
    .filter((node) => !(DROPPED_IF_EMPTY.has(node.type) && (node as Parents).children.length === 0));

/** Rewrites a Markdown tree so that it can be written: the same text, with emphasis only where CommonMark allows it. */
export const normalizeMarkdown = (node: Nodes): Nodes => {
  switch (node.type) {
    case "heading":
      return { ...node, children: trimGaps(tidyPhrasing(stripEmphasis(node.children))) };
    case "paragraph":
      return { ...node, children: trimGaps(tidyPhrasing(flattenEmphasis(node.children))) };
    case "tableCell":
      return { ...node, children: tidyPhrasing(flattenEmphasis(node.children)) };
    case "emphasis":
    case "strong":
    case "delete":
    case "link":
      return { ...node, children: tidyPhrasing(node.children) };
    case "table": {
      const [header, ...rows] = node.children;
      const cells = header?.children.map((cell) => ({ ...cell, children: stripEmphasis(cell.children) })) ?? [];
      return { ...node, children: tidyAll([{ type: "tableRow", children: cells }, ...rows]) };
    }
    case "list":
      return tidyList({ ...node, spread: false, children: tidyAll(numberItems(node)) });
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
