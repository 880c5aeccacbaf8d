import type { Block } from "./blocks.ts";
import { escapeInline, escapeStart, fence, table } from "./markdown.ts";
import { joinLines, type Vocabulary } from "./join.ts";
import { LEADERS, MARKER } from "./marks.ts";
import type { TextLine } from "./textLine.ts";

/** A table of contents without its dots. */
const withoutLeaders = (text: string): string => text.replace(new RegExp(LEADERS, "g"), " ").replace(/ {2,}/g, " ");

/** A link that a line's end has parted is one link. */
const wholeLinks = (text: string): string => text.replace(/\]\(([^()\s]+)\) \[(?=[^\]]*\]\(\1\))/g, " ");

const textOf = (lines: readonly TextLine[], words: Vocabulary): string =>
  wholeLinks(
    withoutLeaders(
      joinLines(
        lines.map((line) => line.text),
        words,
      ),
    ),
  );

/** Code keeps how far its lines stand in. */
function codeLines(lines: readonly TextLine[]): string[] {
  const left = Math.min(...lines.map((line) => line.x0));
  const out: string[] = [];
  for (const [index, line] of lines.entries()) {
    const wide = (line.x1 - line.x0) / Math.max(1, line.raw.length);
    const before = lines[index - 1];
    if (before !== undefined && line.baseline - before.baseline > line.size * 2) out.push("");
    out.push(" ".repeat(Math.min(60, Math.round((line.x0 - left) / Math.max(1, wide)))) + line.raw);
  }
  return out;
}

const item = (text: string, bullet: boolean, label: string | null): { marker: string; said: string } => {
  if (label !== null) return { marker: label, said: text };
  const marker = MARKER.exec(text);
  if (marker === null) return { marker: "-", said: bullet ? text.slice(1).trim() : text };
  const rest = text.slice(marker[0].length);
  const number = marker[2]?.match(/^\(?(\d+)[.)]$/)?.[1];
  if (number !== undefined) return { marker: `${Number(number)}.`, said: rest };
  const box = { "☒": "- [x]", "☐": "- [ ]" }[marker[1] ?? ""];
  if (box !== undefined) return { marker: box, said: rest };
  return { marker: "-", said: marker[2] === undefined ? rest : text };
};

/** Further in than any list: the item stands in the next column, in points. */
const FARTHEST = 120;

/** How deep items stand: those further in belong to the one before. */
function depthsOf(items: readonly number[]): number[] {
  const stack: number[] = [];
  return items.map((x) => {
    if (stack.length > 0 && Math.abs(x - stack.at(-1)!) > FARTHEST) stack.length = 0;
    while (stack.length > 0 && x < stack.at(-1)! - 4) stack.pop();
    if (stack.length === 0 || x > stack.at(-1)! + 4) stack.push(x);
    return stack.length - 1;
  });
}

/** The Markdown of a page. `levels` says which of its blocks are headings. */
export function render(blocks: readonly Block[], levels: ReadonlyMap<Block, number>, words: Vocabulary): string {
  const out: string[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]!;
    const level = levels.get(block);
    if (block.kind === "table") {
      out.push(table(block.rows.map((row) => row.map((cell) => escapeInline(joinLines(cell.split("\n"), words))))));
    } else if (block.kind === "figure") out.push(`![${escapeInline(block.alt)}]()`);
    else if (level !== undefined) out.push(`${"#".repeat(level)} ${textOf(block.lines, words)}`);
    else if (block.kind === "code") out.push(fence(codeLines(block.lines)));
    else if (block.kind === "item") {
      let end = i;
      while (end < blocks.length && blocks[end]!.kind === "item" && !levels.has(blocks[end]!)) end++;
      const items = blocks.slice(i, end) as (Block & { kind: "item" })[];
      const depths = depthsOf(items.map((one) => one.depth));
      out.push(
        items
          .map((one, index) => {
            const { marker, said } = item(textOf(one.lines, words), one.lines[0]!.bullet, one.marker);
            return `${"   ".repeat(depths[index]!)}${marker} ${escapeStart(said)}`;
          })
          .join("\n"),
      );
      i = end - 1;
    } else out.push(escapeStart(textOf(block.lines, words)));
  }
  return out.filter((text) => text !== "").join("\n\n");
}
