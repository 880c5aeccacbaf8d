import { type Block, hasLines, type TextBlock } from "./blocks.ts";
import { CAPTION, DOT_LEADERS, LIST_MARKER, sectionDepth } from "./patterns.ts";
import type { TextLine } from "./textLine.ts";

/** The style of most of a document's text, against which headings stand out. */
export interface BodyStyle {
  /** Text size, in points. */
  body: number;
  bold: boolean;
  mono: boolean;
  italic: boolean;
  font: string;
}

const mostFrequent = <K>(counts: Map<K, number>): K | undefined => {
  let best: [K, number] | undefined;
  for (const entry of counts) if (best === undefined || entry[1] > best[1]) best = entry;
  return best?.[0];
};

/** The style of most of the text, weighted by length. */
export function bodyStyle(lines: Iterable<TextLine>): BodyStyle {
  const sizes = new Map<number, number>();
  const fonts = new Map<string, number>();
  let [all, bold, mono, italic] = [0, 0, 0, 0];
  for (const line of lines) {
    const length = line.raw.length;
    const size = Math.round(line.size * 4) / 4;
    sizes.set(size, (sizes.get(size) ?? 0) + length);
    fonts.set(line.font, (fonts.get(line.font) ?? 0) + length);
    all += length;
    if (line.bold) bold += length;
    if (line.mono) mono += length;
    if (line.italic) italic += length;
  }
  return {
    body: mostFrequent(sizes) ?? 10,
    bold: bold > all * 0.5,
    mono: mono > all * 0.5,
    italic: italic > all * 0.5,
    font: mostFrequent(fonts) ?? "",
  };
}

const isUpperCase = (text: string): boolean => /\p{Lu}{2}/u.test(text) && !/\p{Ll}{2}/u.test(text);

const isTitleCase = (text: string): boolean => {
  const words = text.split(" ").filter((word) => word.length > 3);
  return words.length > 0 && words.filter((word) => /^\p{Lu}/u.test(word)).length >= words.length * 0.6;
};

/** Whether a paragraph of body text of several lines follows. */
const precedesBody = (next: Block | undefined, looks: BodyStyle): boolean =>
  next !== undefined &&
  next.kind === "text" &&
  next.lines.length > 1 &&
  Math.abs(next.lines[0]!.size - looks.body) < 0.6;

/** Whether a block is short enough for a heading if it stands out. */
const isCandidate = (block: Block, text: string): block is TextBlock => {
  if (block.kind !== "text" && block.kind !== "item") return false;
  if (block.lines.length > 4 || text.length > 220 || block.lines[0]!.mono) return false;
  if (
    (text.match(/\p{L}/gu)?.length ?? 0) < Math.max(2, text.length * 0.4) ||
    DOT_LEADERS.test(text) ||
    /[,;]$/.test(text) ||
    CAPTION.test(text)
  )
    return false;
  return block.kind === "text" || (sectionDepth(text) !== null && LIST_MARKER.test(text));
};

/** Whether a block is a heading: few, short lines that stand out. `next`: the block after it. */
export function isHeading(block: Block, next: Block | undefined, looks: BodyStyle): boolean {
  const text = hasLines(block) ? block.lines.map((line) => line.raw).join(" ") : "";
  if (!isCandidate(block, text)) return false;
  const { lines } = block;
  const first = lines[0]!;
  const deep = sectionDepth(text);
  if (first.size >= looks.body * 1.09) return lines.length <= 3 || first.size >= looks.body * 1.4;
  if (lines.length > 2 || text.length > 140 || first.size < looks.body * 0.85) return false;
  if (first.bold && !looks.bold) return deep !== null || !/[.:]$/.test(text) || isUpperCase(text);
  if (block.kind === "item" || /[.:]$/.test(text) || first.size < looks.body * 0.95 || text.length > 90) return false;
  if (deep !== null) return first.font !== looks.font || isUpperCase(text);
  return first.italic && !looks.italic && lines.length === 1 && isTitleCase(text) && precedesBody(next, looks);
}

/** Characters of authors' names and addresses: at signs, note marks, lists of names. */
const AUTHOR_MARK = /[@∗†‡§¶*⁰¹²³⁴-⁹]|, .*,/;

/** The blocks between a paper's title and its abstract name its authors, so they are not headings, however large. */
export function findAuthors(first: readonly Block[], headings: ReadonlySet<Block>): TextBlock[] {
  const sized = first.filter(hasLines).filter((block) => headings.has(block));
  const largest = sized.reduce((most, block) => Math.max(most, block.lines[0]!.size), 0);
  const title = first.findIndex((block) => hasLines(block) && headings.has(block) && block.lines[0]!.size === largest);
  const start = first.findIndex((block, index) => {
    if (index <= title || !hasLines(block)) return false;
    const text = block.lines.map((line) => line.raw).join(" ");
    return (
      /^(?:abstract|summary|contents|table of contents|introduction)\b/i.test(text) ||
      sectionDepth(text) === 1 ||
      text.length > 400
    );
  });
  const front = start < 0 ? [] : first.slice(title + 1, start);
  return front.filter(hasLines).filter((block) => {
    if (block.lines[0]!.size > largest * 0.85) return false;
    return !block.lines[0]!.bold || AUTHOR_MARK.test(block.lines.map((line) => line.raw).join(" "));
  });
}

const headingStyle = (line: TextLine): string => `${(line.size * 2).toFixed(0)} ${line.bold ? 2 : line.italic ? 0 : 1}`;

/** Ranks of the heading styles, from 1 for the highest. Styles that only the cover uses share a rank. */
function rankStyles(headings: readonly TextBlock[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const block of headings)
    counts.set(headingStyle(block.lines[0]!), (counts.get(headingStyle(block.lines[0]!)) ?? 0) + 1);
  const parts = (style: string): [number, number] => style.split(" ").map(Number) as [number, number];
  const styles = [...counts.keys()].toSorted((a, b) => parts(b)[0] - parts(a)[0] || parts(b)[1] - parts(a)[1]);
  const ranks = new Map<string, number>();
  const covers = styles.findIndex((style) => counts.get(style)! > 1);
  let [rank, before] = [0, ""];
  for (const [index, style] of styles.entries()) {
    const sameSize =
      before !== "" &&
      parts(before)[1] === parts(style)[1] &&
      parts(before)[0] - parts(style)[0] <= parts(before)[0] * 0.04;
    if (!sameSize && !(index > 0 && covers > 2 && index < covers)) rank++;
    ranks.set(style, rank);
    before = style;
  }
  return ranks;
}

/** The level of each heading, from 1: by size, then weight, or by its section number if it has one. */
export function headingLevels(headings: readonly TextBlock[]): Map<Block, number> {
  const ranks = rankStyles(headings);
  const levels = new Map<Block, number>(headings.map((block) => [block, ranks.get(headingStyle(block.lines[0]!))!]));
  const depthOf = (block: TextBlock): number | null => sectionDepth(block.lines[0]!.raw);
  const tops = headings.filter((block) => depthOf(block) === 1).map((block) => levels.get(block)!);
  const top = tops.length === 0 ? null : tops.toSorted((a, b) => a - b)[tops.length >> 1]!;
  for (const block of headings) {
    const depth = depthOf(block);
    if (depth !== null && top !== null) levels.set(block, top + depth - 1);
  }
  const used = [...new Set(levels.values())].toSorted((a, b) => a - b);
  for (const [block, level] of levels) levels.set(block, Math.min(6, used.indexOf(level) + 1));
  return levels;
}
