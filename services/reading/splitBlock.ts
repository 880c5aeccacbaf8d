import type { Block } from "./blocks.ts";

/** Minimum length of a piece, in UTF-16 units. */
const MIN_PIECE = 300;
const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const ITEM_LINE = /\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]*\n)/g;

/** Splits a block that is longer than `maxLength` UTF-16 units, after a line or sentence, else at a space. */
export function* splitBlock(
  markdown: string,
  block: Block,
  maxLength: number,
): Generator<{ start: number; end: number }> {
  let start = block.start;
  while (block.end - start > maxLength) {
    const window = markdown.slice(start, start + maxLength);
    const cut = lineCut(window, block.kind) ?? sentenceCut(window) ?? spaceCut(window) ?? hardCut(window);
    yield { start, end: start + window.slice(0, cut).trimEnd().length };
    start = skipSpace(markdown, start + cut, block.end);
  }
  if (start < block.end) yield { start, end: block.end };
}

const lastAllowed = (offsets: Iterable<number>): number | undefined => {
  let last: number | undefined;
  for (const offset of offsets) if (offset >= MIN_PIECE) last = offset;
  return last;
};

const lineCut = (window: string, kind: Block["kind"]): number | undefined => {
  if (kind === "code") return lastAllowed([window.lastIndexOf("\n") + 1]);
  return kind === "item" ? lastAllowed(window.matchAll(ITEM_LINE).map((match) => match.index + 1)) : undefined;
};

/** A line break inside a paragraph does not end a sentence. */
const sentenceCut = (window: string): number | undefined => {
  const last = sentences.segment(window.replaceAll("\n", " ")).containing(window.length - 1);
  return last && lastAllowed([last.index]);
};

const spaceCut = (window: string): number | undefined => {
  for (let at = window.length; at > MIN_PIECE; at--) if (isSpace(window.charCodeAt(at - 1))) return at;
  return undefined;
};

/** Never splits a surrogate pair. */
const hardCut = (window: string): number => {
  const last = window.charCodeAt(window.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? window.length - 1 : window.length;
};

/** White space as in String.trim. */
export const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || (code >= 0xa0 && /\s/.test(String.fromCharCode(code)));

const skipSpace = (markdown: string, from: number, to: number): number => {
  let at = from;
  while (at < to && isSpace(markdown.charCodeAt(at))) at++;
  return at;
};
