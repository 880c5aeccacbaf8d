import type { Block } from "./blocks.ts";
import { fence } from "../text/fence.ts";
import { escapeInline, escapeStart, toTable } from "./markdown.ts";
import { joinLines, type Vocabulary } from "./joinLines.ts";
import { DOT_LEADERS, LIST_MARKER } from "./patterns.ts";
import type { TextLine } from "./textLine.ts";

/** Text without the dot leaders of a table of contents. */
const withoutLeaders = (text: string): string => text.replace(new RegExp(DOT_LEADERS, "g"), " ").replace(/ {2,}/g, " ");

/** Joins the two halves of a link that spans a line break. */
const joinLinks = (text: string): string => text.replace(/\]\(([^()\s]+)\) \[(?=[^\]]*\]\(\1\))/g, " ");

const blockText = (lines: readonly TextLine[], words: Vocabulary): string =>
  joinLinks(
    withoutLeaders(
      joinLines(
        lines.map((line) => line.text),
        words,
      ),
    ),
  );

/** Lines of code with their indentation. */
function codeLines(lines: readonly TextLine[]): string[] {
  const left = Math.min(...lines.map((line) => line.x0));
  const out: string[] = [];
  for (const [index, line] of lines.entries()) {
    const characterWidth = (line.x1 - line.x0) / Math.max(1, line.raw.length);
    const before = lines[index - 1];
    if (before !== undefined && line.baseline - before.baseline > line.size * 2) out.push("");
    out.push(" ".repeat(Math.min(60, Math.round((line.x0 - left) / Math.max(1, characterWidth)))) + line.raw);
  }
  return out;
}

/** Splits an item's text into its Markdown marker and the rest. `label`: the marker from the tags. */
const toListItem = (text: string, bullet: boolean, label: string | null): { marker: string; text: string } => {
  if (label !== null) return { marker: label, text };
  const marker = LIST_MARKER.exec(text);
  if (marker === null) return { marker: "-", text: bullet ? text.slice(1).trim() : text };
  const rest = text.slice(marker[0].length);
  const number = marker[2]?.match(/^\(?(\d+)[.)]$/)?.[1];
  if (number !== undefined) return { marker: `${Number(number)}.`, text: rest };
  const box = { "☒": "- [x]", "☐": "- [ ]" }[marker[1] ?? ""];
  if (box !== undefined) return { marker: box, text: rest };
  return { marker: "-", text: marker[2] === undefined ? rest : text };
};

/** Minimum difference of indents between two columns, in points. */
const MAX_INDENT = 120;

/** The nesting depth of each item, by its indent in points. */
function nestingDepths(items: readonly number[]): number[] {
  const stack: number[] = [];
  return items.map((x) => {
    if (stack.length > 0 && Math.abs(x - stack.at(-1)!) > MAX_INDENT) stack.length = 0;
    while (stack.length > 0 && x < stack.at(-1)! - 4) stack.pop();
    if (stack.length === 0 || x > stack.at(-1)! + 4) stack.push(x);
    return stack.length - 1;
  });
}

/** The Markdown of a page. `levels`: the levels of the blocks that are headings. */
export function renderMarkdown(
  blocks: readonly Block[],
  levels: ReadonlyMap<Block, number>,
  words: Vocabulary,
): string {
  const out: string[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]!;
    const level = levels.get(block);
    if (block.kind === "table") {
      out.push(toTable(block.rows.map((row) => row.map((cell) => escapeInline(joinLines(cell.split("\n"), words))))));
    } else if (block.kind === "figure") out.push(`![${escapeInline(block.alt)}]()`);
    else if (level !== undefined) out.push(`${"#".repeat(level)} ${blockText(block.lines, words)}`);
    else if (block.kind === "code") out.push(fence(codeLines(block.lines).join("\n"), ""));
    else if (block.kind === "item") {
      let end = i;
      while (end < blocks.length && blocks[end]!.kind === "item" && !levels.has(blocks[end]!)) end++;
      const items = blocks.slice(i, end) as (Block & { kind: "item" })[];
      const depths = nestingDepths(items.map((one) => one.depth));
      out.push(
        items
          .map((one, index) => {
            const { marker, text } = toListItem(blockText(one.lines, words), one.lines[0]!.bullet, one.marker);
            return `${"   ".repeat(depths[index]!)}${marker} ${escapeStart(text)}`;
          })
          .join("\n"),
      );
      i = end - 1;
    } else out.push(escapeStart(blockText(block.lines, words)));
  }
  return out.filter((text) => text !== "").join("\n\n");
}
