import { type Block, isLined, type Lined } from "./blocks.ts";
import type { Looks } from "./headings.ts";
import { CAPTION, MARKER } from "./marks.ts";

const NOTE = 0.93;

/** A raised number at the foot of a page begins a note, whatever its size. */
const isNoted = (block: Block): boolean => isLined(block) && /^[⁰¹²³⁴-⁹]+ ?\p{L}/u.test(block.lines[0]!.raw);

const isSmall = (block: Block, looks: Looks): boolean => isLined(block) && block.lines[0]!.size < looks.body * NOTE;

const rawOf = (block: Lined): string => block.lines.map((line) => line.raw).join(" ");

/** The last blocks of a column when they are smaller print low on the page: its footnotes. */
function notesFrom(column: readonly Block[], looks: Looks, pageHeight: number): number {
  let from = column.length;
  while (from > 0) {
    const block = column[from - 1]!;
    if (!isLined(block) || !(isSmall(block, looks) || isNoted(block)) || block.lines[0]!.y0 < pageHeight * 0.5) break;
    if (CAPTION.test(block.lines[0]!.raw)) break;
    from--;
  }
  return from === 0 ? column.length : from;
}

/** A paragraph that a column's end has parted ends in the middle of a sentence and goes on with a small letter. */
const isOpen = (block: Block): block is Lined =>
  (block.kind === "text" || block.kind === "item") &&
  /[\p{L},\p{N}\-‐\u00AD)]$/u.test(rawOf(block)) &&
  rawOf(block).length > 30;

const goesOnFrom = (open: Lined, block: Block): boolean => {
  if (block.kind !== "text" || MARKER.test(block.lines[0]!.raw)) return false;
  const [last, first] = [open.lines.at(-1)!, block.lines[0]!];
  if (Math.abs(last.size - first.size) > 0.05 * last.size || last.bold !== first.bold) return false;
  return /^[\p{Ll}]/u.test(first.raw) || /\p{Ll}[-‐\u00AD]$/u.test(last.raw);
};

/** The blocks of a page in the order of reading: footnotes at its end, paragraphs whole across columns. */
export function flow(columns: readonly (readonly Block[])[], looks: Looks, pageHeight: number): Block[] {
  const [body, notes]: [Block[], Block[]] = [[], []];
  for (const column of columns) {
    const from = notesFrom(column, looks, pageHeight);
    const rest = column.slice(0, from);
    notes.push(...column.slice(from));
    // What stands between the two parts of a paragraph: figures, tables and their captions.
    const aside = rest.findIndex(
      (block) => isLined(block) && !isSmall(block, looks) && !CAPTION.test(block.lines[0]!.raw),
    );
    let last = body.length - 1;
    while (last >= 0 && (!isLined(body[last]!) || isSmall(body[last]!, looks) || isCaption(body[last]!))) last--;
    const open = body[last];
    const next = rest[aside];
    if (open !== undefined && next !== undefined && isOpen(open) && goesOnFrom(open, next)) {
      open.lines.push(...(next as Lined).lines);
      body.push(...rest.filter((block) => block !== next));
    } else body.push(...rest);
  }
  return [...body, ...notes];
}

const isCaption = (block: Block): boolean => isLined(block) && CAPTION.test(block.lines[0]!.raw);
