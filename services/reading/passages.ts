import { MAX_PASSAGE } from "#events/textSize.ts";
import { scanBlocks, type Block } from "./blocks.ts";
import { isSpace, splitBlock } from "./splitBlock.ts";
import { withHeading, plainHeading, formatPath, type HeadingPath } from "./headings.ts";
import type { Pagination, Passage } from "./reader.ts";

const LEAD_LENGTH = 150;
/** A shorter piece joins its neighbour, even if the sum exceeds MAX_PASSAGE a little. */
const SHORT_PIECE = MAX_PASSAGE / 4;
/** A shorter section is not a passage by itself; it joins the following text. */
const TINY_SECTION = 60;

interface Piece {
  start: number;
  /** End of its last block, before the white space. */
  end: number;
  page: number;
  path: HeadingPath;
  startsWithHeading: boolean;
  onlyHeadings: boolean;
  header: Block["header"];
}

/**
 * Cuts Markdown into citable passages that cover it exactly, in order; none for blank Markdown. A passage lies in one section and on
 * one page, and includes the white space around it.
 */
export function cutPassages(markdown: string, { page_count, pages, slides }: Pagination): Passage[] {
  const pieces: Piece[] = [];
  const offsets: number[] = [];
  let path: HeadingPath = [];
  let from = 0;
  const lengths = pages && pages.length > 0 ? pages : [markdown.length];
  for (const [n, length] of lengths.entries()) {
    const to = n === lengths.length - 1 ? markdown.length : Math.min(from + length, markdown.length);
    offsets.push(from);
    const packed = packBlocks(markdown, { from, to, page: n }, slides ? [] : path);
    path = packed.path;
    for (const piece of mergeShort(packed.pieces)) pieces.push(piece);
    from = to;
  }
  const starts = pieces.map((piece, n) => (piece.page === pieces[n - 1]?.page ? piece.start : offsets[piece.page]!));
  return pieces.map((piece, seq) => ({
    seq,
    page: page_count === null ? null : piece.page + 1,
    section: formatPath(piece.path),
    start: seq === 0 ? 0 : starts[seq]!,
    end: starts[seq + 1] ?? markdown.length,
    lead: leadFor(markdown, piece, pieces[seq - 1]),
  }));
}

/** Fills pieces with blocks up to the maximum length; a heading starts a new piece. */
const packBlocks = (
  markdown: string,
  { from, to, page }: { from: number; to: number; page: number },
  above: HeadingPath,
) => {
  const pieces: Piece[] = [];
  let path = above;
  for (const block of scanBlocks(markdown, from, to)) {
    const heading = block.kind === "heading";
    if (heading) path = withHeading(path, block.level!, plainHeading(markdown.slice(block.start, block.end)));
    for (const { start, end } of splitBlock(markdown, block, MAX_PASSAGE)) {
      const last = pieces.at(-1);
      const fits = last && end - last.start <= MAX_PASSAGE;
      if (fits && heading && (last.onlyHeadings || last.end - last.start < TINY_SECTION)) {
        if (last.onlyHeadings || last.path.length < path.length) last.path = path;
        last.end = end;
      } else if (fits && !heading) {
        last.end = end;
        last.onlyHeadings = false;
      } else
        pieces.push({
          start,
          end,
          page,
          path,
          startsWithHeading: heading,
          onlyHeadings: heading,
          header: block.header,
        });
    }
  }
  return { pieces, path };
};

/** Joins short pieces of one section. Joins headings at the end of a page to the piece before them. */
const mergeShort = (pieces: Piece[]): Piece[] => {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    const together = last ? piece.end - last.start : Number.POSITIVE_INFINITY;
    const short = last && Math.min(piece.end - piece.start, last.end - last.start) < SHORT_PIECE;
    if (last && short && together <= MAX_PASSAGE + SHORT_PIECE && (!piece.startsWithHeading || piece.onlyHeadings)) {
      last.end = piece.end;
      last.onlyHeadings &&= piece.onlyHeadings;
    } else merged.push(piece);
  }
  return merged;
};

/** The header of the piece's table, or the end of the piece before. */
const leadFor = (markdown: string, piece: Piece, before: Piece | undefined): string => {
  if (piece.header)
    return markdown.slice(piece.header.start, Math.min(piece.header.end, piece.header.start + MAX_PASSAGE));
  if (!before || piece.startsWithHeading) return "";
  const start = Math.max(before.start, before.end - LEAD_LENGTH);
  const text = markdown.slice(start, before.end);
  const whole = start === before.start || isSpace(markdown.charCodeAt(start - 1));
  return (whole ? text : text.slice(Math.max(0, text.search(/\s/)))).trim();
};
