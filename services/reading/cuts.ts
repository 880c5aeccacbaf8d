import type { Block } from "./blocks.ts";

/** Where pieces may be small; below it they join a neighbour. */
const LEAST = 300;
const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const ITEM_LINE = /\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]*\n)/g;

/** The block, or, where it is longer than `most` UTF-16 units, pieces of it: cut after a line or sentence, else at a space. */
export function* piecesOf(markdown: string, block: Block, most: number): Generator<{ start: number; end: number }> {
  let start = block.start;
  while (block.end - start > most) {
    const window = markdown.slice(start, start + most);
    const cut = lineCut(window, block.kind) ?? sentenceCut(window) ?? spaceCut(window) ?? hardCut(window);
    yield { start, end: start + window.slice(0, cut).trimEnd().length };
    start = skipSpace(markdown, start + cut, block.end);
  }
  if (start < block.end) yield { start, end: block.end };
}

const lastOf = (offsets: Iterable<number>): number | undefined => {
  let last: number | undefined;
  for (const offset of offsets) if (offset >= LEAST) last = offset;
  return last;
};

const lineCut = (window: string, kind: Block["kind"]): number | undefined => {
  if (kind === "code") return lastOf([window.lastIndexOf("\n") + 1]);
  return kind === "item" ? lastOf(window.matchAll(ITEM_LINE).map((match) => match.index + 1)) : undefined;
};

/** A line's end inside a paragraph is not a sentence's. */
const sentenceCut = (window: string): number | undefined =>
  lastOf(
    sentences
      .segment(window.replaceAll("\n", " "))
      [Symbol.iterator]()
      .map(({ index }) => index),
  );

const spaceCut = (window: string): number | undefined => {
  for (let at = window.length; at > LEAST; at--) if (isSpace(window.charCodeAt(at - 1))) return at;
  return undefined;
};

/** Between no two halves of a character. */
const hardCut = (window: string): number => {
  const last = window.charCodeAt(window.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? window.length - 1 : window.length;
};

/** As String.trim sees it. */
export const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || (code >= 0xa0 && /\s/.test(String.fromCharCode(code)));

const skipSpace = (markdown: string, from: number, to: number): number => {
  let at = from;
  while (at < to && isSpace(markdown.charCodeAt(at))) at++;
  return at;
};
