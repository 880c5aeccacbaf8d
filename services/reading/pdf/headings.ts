import { type Block, isLined, type Lined } from "./blocks.ts";
import { CAPTION, LEADERS, MARKER, sectionDepth } from "./marks.ts";
import type { TextLine } from "./textLine.ts";

/** How the text of the whole document looks, so that what stands out is seen. */
export interface Looks {
  /** Size of most of its characters, in points. */
  body: number;
  /** Is most of it bold, or typewritten? Then that is nothing special. */
  bold: boolean;
  mono: boolean;
  font: string;
}

const mostOf = <K>(counts: Map<K, number>): K | undefined => {
  let best: [K, number] | undefined;
  for (const entry of counts) if (best === undefined || entry[1] > best[1]) best = entry;
  return best?.[0];
};

export function looksOf(lines: Iterable<TextLine>): Looks {
  const sizes = new Map<number, number>();
  const fonts = new Map<string, number>();
  let [all, bold, mono] = [0, 0, 0];
  for (const line of lines) {
    const length = line.raw.length;
    const size = Math.round(line.size * 4) / 4;
    sizes.set(size, (sizes.get(size) ?? 0) + length);
    fonts.set(line.font, (fonts.get(line.font) ?? 0) + length);
    all += length;
    if (line.bold) bold += length;
    if (line.mono) mono += length;
  }
  return { body: mostOf(sizes) ?? 10, bold: bold > all * 0.5, mono: mono > all * 0.5, font: mostOf(fonts) ?? "" };
}

const isShouted = (text: string): boolean => /\p{Lu}{2}/u.test(text) && !/\p{Ll}{2}/u.test(text);

/** What makes lines of text a heading: they are few, short, and stand out. */
export function isHeading(block: Block, looks: Looks): boolean {
  if (block.kind !== "text" && block.kind !== "item") return false;
  const { lines } = block;
  const text = lines.map((line) => line.raw).join(" ");
  const first = lines[0]!;
  const deep = sectionDepth(text);
  if (lines.length > 4 || text.length > 220 || (text.match(/\p{L}/gu)?.length ?? 0) < 2) return false;
  if (LEADERS.test(text) || /[,;]$/.test(text)) return false;
  if (CAPTION.test(text) || (block.kind === "item" && (deep === null || !MARKER.test(text)))) return false;
  const larger = first.size >= looks.body * 1.09;
  const bolder = first.bold && !looks.bold && first.size >= looks.body * 0.85;
  if (larger) return lines.length <= 3 || first.size >= looks.body * 1.4;
  if (lines.length > 2 || text.length > 140) return false;
  if (bolder) return deep !== null || !/[.:]$/.test(text) || isShouted(text);
  const other = first.font !== looks.font && first.size >= looks.body * 0.95;
  return (
    deep !== null && !/[.:]$/.test(text) && text.length < 90 && block.kind === "text" && (other || isShouted(text))
  );
}

/** Signs of authors and their addresses. */
const PEOPLE = /[@∗†‡§¶*⁰¹²³⁴-⁹]|, .*,/;

/** Between a paper's title and its abstract stand people, however large their names are set. */
export function peopleOf(first: readonly Block[], headings: ReadonlySet<Block>): Set<Block> {
  const sized = first.filter(isLined).filter((block) => headings.has(block));
  const largest = Math.max(0, ...sized.map((block) => block.lines[0]!.size));
  const title = first.findIndex((block) => isLined(block) && headings.has(block) && block.lines[0]!.size === largest);
  const start = first.findIndex((block, index) => {
    if (index <= title || !isLined(block)) return false;
    const text = block.lines.map((line) => line.raw).join(" ");
    return (
      /^(?:abstract|summary|contents|table of contents|introduction)\b/i.test(text) ||
      sectionDepth(text) === 1 ||
      text.length > 400
    );
  });
  const front = start < 0 ? [] : first.slice(title + 1, start);
  return new Set(
    front.filter((block) => {
      if (!isLined(block) || block.lines[0]!.size > largest * 0.85) return false;
      return !block.lines[0]!.bold || PEOPLE.test(block.lines.map((line) => line.raw).join(" "));
    }),
  );
}

const styleOf = (line: TextLine): string => `${(line.size * 2).toFixed(0)} ${line.bold ? 1 : 0}`;

/** A level for each heading, from 1: by size, then weight, and by its number where it has one. */
export function levelsOf(headings: readonly Block[]): Map<Block, number> {
  const lead = (block: Block): TextLine => (block as Lined).lines[0]!;
  const styles = [...new Set(headings.map((block) => styleOf(lead(block))))].toSorted((a, b) => {
    const [[sizeA = 0, boldA = 0], [sizeB = 0, boldB = 0]] = [a.split(" ").map(Number), b.split(" ").map(Number)];
    return sizeB - sizeA || boldB - boldA;
  });
  const rank = new Map(styles.map((style, index) => [style, index + 1]));
  const levels = new Map(headings.map((block) => [block, rank.get(styleOf(lead(block)))!]));
  const depthOf = (block: Block): number | null => sectionDepth(lead(block).raw);
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
