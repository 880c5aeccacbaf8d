import { scanBlocks, type Block } from "./blocks.ts";
import { isSpace, piecesOf } from "./cuts.ts";
import { below, plainHeading, spelled, type Path } from "./headings.ts";
import type { Passage } from "./reader.ts";

/** UTF-16 units. 1,200 with a lead of 150 found more in the first eight than 400 to 800 did, and reads as much less than 2,000. */
const MOST = 1_200;
const LEAD = 150;
/** A piece below this joins its neighbour, also a little beyond MOST. */
const SHORT = MOST / 4;
/** A section below this is no passage: it goes with what follows. */
const TINY = 60;

interface Piece {
  start: number;
  /** Where its last block ends; the white space behind it follows. */
  end: number;
  page: number;
  path: Path;
  /** It begins with a heading. */
  headed: boolean;
  /** It is nothing but headings. */
  bare: boolean;
  header: Block["header"];
}

/**
 * Cuts Markdown into citable passages that cover it exactly, in order; none for blank Markdown. A passage is in one
 * section and on one page; what is left blank around it belongs to it. `pages` are the pages' lengths in UTF-16 units,
 * each with the blank line that joins it to the next; null where there are none.
 */
export function cutPassages(markdown: string, pages: number[] | null): Passage[] {
  const pieces: Piece[] = [];
  const offsets: number[] = [];
  let path: Path = [];
  let from = 0;
  const lengths = pages && pages.length > 0 ? pages : [markdown.length];
  for (const [n, length] of lengths.entries()) {
    const to = n === lengths.length - 1 ? markdown.length : Math.min(from + length, markdown.length);
    offsets.push(from);
    const packed = pack(markdown, { from, to, page: n }, path);
    path = packed.path;
    for (const piece of joined(packed.pieces)) pieces.push(piece);
    from = to;
  }
  const starts = pieces.map((piece, n) => (piece.page === pieces[n - 1]?.page ? piece.start : offsets[piece.page]!));
  return pieces.map((piece, seq) => ({
    seq,
    page: pages ? piece.page + 1 : null,
    section: spelled(piece.path),
    start: seq === 0 ? 0 : starts[seq]!,
    end: starts[seq + 1] ?? markdown.length,
    lead: leadOf(markdown, piece, pieces[seq - 1]),
  }));
}

/** Fills pieces with blocks as long as they hold them; a heading begins one. */
const pack = (markdown: string, { from, to, page }: { from: number; to: number; page: number }, above: Path) => {
  const pieces: Piece[] = [];
  let path = above;
  for (const block of scanBlocks(markdown, from, to)) {
    const heading = block.kind === "heading";
    if (heading) path = below(path, block.level!, plainHeading(markdown.slice(block.start, block.end)));
    for (const { start, end } of piecesOf(markdown, block, MOST)) {
      const last = pieces.at(-1);
      const fits = last && end - last.start <= MOST;
      if (fits && heading && (last.bare || last.end - last.start < TINY)) {
        if (last.bare || last.path.length < path.length) last.path = path;
        last.end = end;
      } else if (fits && !heading) {
        last.end = end;
        last.bare = false;
      } else pieces.push({ start, end, page, path, headed: heading, bare: heading, header: block.header });
    }
  }
  return { pieces, path };
};

/** Pieces of one section of which one is short are one, and headings at the end of a page go with what is before them. */
const joined = (pieces: Piece[]): Piece[] => {
  const kept: Piece[] = [];
  for (const piece of pieces) {
    const last = kept.at(-1);
    const together = last ? piece.end - last.start : Number.POSITIVE_INFINITY;
    const short = last && Math.min(piece.end - piece.start, last.end - last.start) < SHORT;
    if (last && short && together <= MOST + SHORT && (!piece.headed || piece.bare)) {
      last.end = piece.end;
      last.bare &&= piece.bare;
    } else kept.push(piece);
  }
  return kept;
};

const leadOf = (markdown: string, piece: Piece, before: Piece | undefined): string => {
  if (piece.header) return markdown.slice(piece.header.start, Math.min(piece.header.end, piece.header.start + MOST));
  if (!before || piece.headed) return "";
  const start = Math.max(before.start, before.end - LEAD);
  const text = markdown.slice(start, before.end);
  const whole = start === before.start || isSpace(markdown.charCodeAt(start - 1));
  return (whole ? text : text.slice(Math.max(0, text.search(/\s/)))).trim();
};
