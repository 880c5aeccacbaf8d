import type { Heading, Nodes, Root, Table } from "mdast";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";

/* How near Markdown that was read from a file comes to the Markdown that the file was made from. All scores are 0 to 1. */

export interface Score {
  /** Words in the same order. */
  order: number;
  /** Rows and cells; null where neither text has a table. */
  tables: number | null;
  /** Headings with their levels; null where neither text has one. */
  headings: number | null;
  overall: number;
}

const parse = (markdown: string): Root => unified().use(remarkParse).use(remarkGfm).parse(markdown);

const textOf = (node: Nodes): string => {
  if ("value" in node) return node.type === "html" ? " " : node.value;
  if (!("children" in node)) return node.type === "break" ? " " : "";
  const inline = ["paragraph", "heading", "link", "emphasis", "strong", "delete", "tableCell"].includes(node.type);
  return node.children.map(textOf).join(inline ? "" : "\n");
};

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];

/** The best sum of `likeness` over pairs that keep the order of both. */
const align = <T>(one: T[], other: T[], likeness: (a: T, b: T) => number): number => {
  let above = new Float64Array(other.length + 1);
  for (const a of one) {
    const row = new Float64Array(other.length + 1);
    for (const [at, b] of other.entries()) {
      row[at + 1] = Math.max(row[at] ?? 0, above[at + 1] ?? 0, (above[at] ?? 0) + likeness(a, b));
    }
    above = row;
  }
  return above[other.length] ?? 0;
};

const share = <T>(one: T[], other: T[], likeness: (a: T, b: T) => number): number =>
  one.length + other.length === 0 ? 1 : (2 * align(one, other, likeness)) / (one.length + other.length);

const same = (a: string, b: string): number => (a === b ? 1 : 0);

const nodesOf = <T extends Nodes["type"]>(node: Nodes, type: T): Extract<Nodes, { type: T }>[] => {
  if (node.type === type) return [node as Extract<Nodes, { type: T }>];
  return "children" in node ? node.children.flatMap((child) => nodesOf(child, type)) : [];
};

const rowsOf = (table: Table): string[][] =>
  table.children.map((row) => row.children.map((cell) => wordsOf(textOf(cell)).join(" ")));

const tableLikeness = (one: string[][], other: string[][]): number => share(one, other, (a, b) => share(a, b, same));

const headingLikeness = (one: Heading, other: Heading): number => {
  if (same(wordsOf(textOf(one)).join(" "), wordsOf(textOf(other)).join(" ")) === 0) return 0;
  return one.depth === other.depth ? 1 : 0.5;
};

const orNull = <T>(one: T[], other: T[], likeness: (a: T, b: T) => number): number | null =>
  one.length + other.length === 0 ? null : share(one, other, likeness);

/** Scores Markdown against the truth; `overall` is the mean of what there is to score. */
export const scoreMarkdown = (markdown: string, truth: string): Score => {
  const [read, meant] = [parse(markdown), parse(truth)];
  const order = share(wordsOf(textOf(read)), wordsOf(textOf(meant)), same);
  const tables = orNull(nodesOf(read, "table").map(rowsOf), nodesOf(meant, "table").map(rowsOf), tableLikeness);
  const headings = orNull(nodesOf(read, "heading"), nodesOf(meant, "heading"), headingLikeness);
  const parts = [order, tables, headings].filter((part) => part !== null);
  return { order, tables, headings, overall: parts.reduce((sum, part) => sum + part, 0) / parts.length };
};
