import { splitLine, tableLines } from "./markdownTables.ts";

/* The similarity of two Markdown texts, from 0 to 1, by reading order, tables and headings. */

const plainText = (markdown: string): string =>
  markdown
    .replace(/^\|[ :|-]+\|$/gm, "")
    .replace(/^(?:#+|[-*+]|\d+\.) +|^```\w*$|[|*`\\]/gm, " ")
    .replace(/\s+/g, " ")
    .trim();

/** Length of the longest common subsequence, by bit-parallel arithmetic. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const places = new Map<string, bigint>();
  for (const [index, sign] of a.entries()) places.set(sign, (places.get(sign) ?? 0n) | (1n << BigInt(index)));
  const all = (1n << BigInt(a.length)) - 1n;
  let rest = all;
  for (const sign of b) {
    const met = rest & (places.get(sign) ?? 0n);
    rest = ((rest + met) | (rest - met)) & all;
  }
  return a.length - rest.toString(2).replaceAll("0", "").length;
}

const similarity = (a: readonly string[], b: readonly string[]): number =>
  a.length + b.length === 0 ? 1 : (2 * commonLength(a, b)) / (a.length + b.length);

/** The cost of the cheapest edits that turn one sequence into the other. */
function distance<T>(
  a: readonly T[],
  b: readonly T[],
  size: (one: T) => number,
  change: (x: T, y: T) => number,
): number {
  let row = [0];
  for (const one of b) row.push(row.at(-1)! + size(one));
  for (const x of a) {
    const next = [row[0]! + size(x)];
    for (const [j, y] of b.entries()) {
      next.push(Math.min(row[j + 1]! + size(x), next[j]! + size(y), row[j]! + change(x, y)));
    }
    row = next;
  }
  return row.at(-1)!;
}

type Rows = string[][];

const tablesIn = (markdown: string): Rows[] =>
  tableLines(markdown).map((lines) =>
    lines.filter((line) => !/^[| :-]+$/.test(line) || !line.includes("-")).map(splitLine),
  );

const different = (a: string, b: string): number => (a === b ? 0 : 1 - similarity(a.split(""), b.split("")));

const rowCost = (a: string[], b: string[]): number => distance(a, b, () => 1, different);

const sizeOf = (rows: Rows): number => rows.reduce((sum, row) => sum + 1 + row.length, 1);

const tableCost = (a: Rows, b: Rows): number => distance(a, b, (row) => 1 + row.length, rowCost);

/** The similarity of the texts in their order. */
export const readingScore = (truth: string, read: string): number =>
  similarity(plainText(truth).split(""), plainText(read).split(""));

/** The similarity of the tables, their rows and cells; null if the truth has none. */
export function tableScore(truth: string, read: string): number | null {
  const [right, found] = [tablesIn(truth), tablesIn(read)];
  if (right.length === 0) return null;
  const sizes = [right, found].map((tables) => tables.reduce((sum, rows) => sum + sizeOf(rows), 0));
  return 1 - Math.min(1, distance(right, found, sizeOf, tableCost) / Math.max(...sizes));
}

interface Heading {
  level: number;
  text: string;
}

const headingsIn = (markdown: string): Heading[] =>
  [...markdown.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^(#{1,6}) +(.+)$/gm)].map(([, marks, text]) => ({
    level: marks!.length,
    text: text!.trim(),
  }));

/** The similarity of the headings and their levels; null if the truth has none. */
export function headingScore(truth: string, read: string): number | null {
  const [right, found] = [headingsIn(truth), headingsIn(read)];
  if (right.length === 0) return null;
  const change = (a: Heading, b: Heading): number =>
    Math.min(1, different(a.text, b.text) + (a.level === b.level ? 0 : 0.3));
  return 1 - distance(right, found, () => 1, change) / Math.max(right.length, found.length);
}

/** The mean of the scores that the truth has content for. */
export function score(truth: string, read: string): number {
  const scores = [readingScore(truth, read), tableScore(truth, read), headingScore(truth, read)].filter(
    (one) => one !== null,
  );
  return scores.reduce((sum, one) => sum + one, 0) / scores.length;
}
