import { type Block, hasLines, type TextBlock } from "./blocks.ts";
import type { BodyStyle } from "./headings.ts";
import { CAPTION, LIST_MARKER } from "./patterns.ts";

/** Text below this share of the body's size is small print. */
const NOTE_SIZE = 0.93;

/** A superscript number starts a footnote, whatever its size. */
const startsNote = (block: Block): boolean => hasLines(block) && /^[⁰¹²³⁴-⁹]+ ?\p{L}/u.test(block.lines[0]!.raw);

const isSmall = (block: Block, looks: BodyStyle): boolean =>
  hasLines(block) && block.lines[0]!.size < looks.body * NOTE_SIZE;

const rawText = (block: TextBlock): string => block.lines.map((line) => line.raw).join(" ");

/** The index of a column's first footnote: its last blocks, if they are small print in the lower half of the page. */
function findNotes(column: readonly Block[], looks: BodyStyle, pageHeight: number): number {
  let from = column.length;
  while (from > 0) {
    const block = column[from - 1]!;
    if (!hasLines(block) || !(isSmall(block, looks) || startsNote(block)) || block.lines[0]!.y0 < pageHeight * 0.5)
      break;
    if (CAPTION.test(block.lines[0]!.raw)) break;
    from--;
  }
  return from === 0 ? column.length : from;
}

/** A paragraph that continues in the next column ends in the middle of a sentence. */
const endsMidSentence = (block: Block): block is TextBlock =>
  (block.kind === "text" || block.kind === "item") &&
  /[\p{L},\p{N}\-‐\u00AD)]$/u.test(rawText(block)) &&
  rawText(block).length > 30;

const continues = (open: TextBlock, block: Block): boolean => {
  if (block.kind !== "text" || LIST_MARKER.test(block.lines[0]!.raw)) return false;
  const [last, first] = [open.lines.at(-1)!, block.lines[0]!];
  if (Math.abs(last.size - first.size) > 0.05 * last.size || last.bold !== first.bold) return false;
  return /^[\p{Ll}]/u.test(first.raw) || /\p{Ll}[-‐\u00AD]$/u.test(last.raw);
};

/** The blocks of a page in reading order: paragraphs joined across columns, footnotes last. */
export function mergeColumns(columns: readonly (readonly Block[])[], looks: BodyStyle, pageHeight: number): Block[] {
  const [body, notes]: [Block[], Block[]] = [[], []];
  for (const column of columns) {
    const from = findNotes(column, looks, pageHeight);
    const rest = column.slice(0, from);
    notes.push(...column.slice(from));
    // figures, tables and captions may be between the two parts of a paragraph
    const firstBody = rest.findIndex(
      (block) => hasLines(block) && !isSmall(block, looks) && !CAPTION.test(block.lines[0]!.raw),
    );
    let last = body.length - 1;
    while (last >= 0 && (!hasLines(body[last]!) || isSmall(body[last]!, looks) || isCaption(body[last]!))) last--;
    const open = body[last];
    const next = rest[firstBody];
    if (open !== undefined && next !== undefined && endsMidSentence(open) && continues(open, next)) {
      open.lines.push(...(next as TextBlock).lines);
      body.push(...rest.filter((block) => block !== next));
    } else body.push(...rest);
  }
  return [...body, ...notes];
}

const isCaption = (block: Block): boolean => hasLines(block) && CAPTION.test(block.lines[0]!.raw);
