import { CFB } from "@e965/xlsx";
import { UnreadableFile } from "../reader.ts";
import { readFontNames } from "./docFonts.ts";

/* The binary format of Word 97 to 2003 ([MS-DOC]): its tables, and the pieces of its text. */

/** A contiguous piece of the text. */
interface Piece {
  /** Character positions, half open. */
  from: number;
  to: number;
  /** Byte offset of its first character in the main stream. */
  offset: number;
  /** Bytes per character. */
  width: 1 | 2;
}

export interface DocFile {
  main: Buffer;
  /** The complete text: document, footnotes, headers, comments, endnotes and text boxes, in this order. */
  text: string;
  /** A character's byte offset in the main stream, its width in bytes, and how many characters follow in its piece, itself included. */
  locate(character: number): { offset: number; width: number; following: number };
  /** A table by its index in the file's list of tables. */
  table(number: number): Buffer;
  /** Font names, by the numbers that the text uses. */
  fonts: readonly string[];
  /** The bytes after a table. */
  dataAfter(number: number): Buffer;
  /** In characters. */
  lengths: { body: number; footnotes: number; headers: number; comments: number; endnotes: number; boxes: number };
}

/** Indexes in the file's list of tables. */
export const tables = {
  styles: 1,
  footnoteMarks: 2,
  footnotes: 3,
  characterFormats: 12,
  paragraphFormats: 13,
  fonts: 15,
  pieces: 33,
  endnoteMarks: 46,
  endnotes: 47,
  lists: 73,
  listOverrides: 74,
};

const WORD_97 = 0xa5ec;
const ENCRYPTED = 0x0100;

const readStream = (container: object, name: string): Buffer => {
  const found = CFB.find(container, `/${name}`) as { content?: Uint8Array } | null;
  if (!found?.content) throw new UnreadableFile("The file is damaged: it is not a Word document.");
  return Buffer.from(found.content);
};

/** The positions at the start of a table (PLC). Its entries of `entrySize` bytes follow, one between each two positions. */
export const readPositions = (table: Buffer, entrySize: number): number[] => {
  const count = Math.max(Math.floor((table.length - 4) / (4 + entrySize)), 0);
  return table.length < 4 ? [] : Array.from({ length: count + 1 }, (_, at) => table.readUInt32LE(at * 4));
};

/** The piece table follows any number of other entries, each with its length. */
const pieceTable = (clx: Buffer): Buffer => {
  let at = 0;
  while (clx.readUInt8(at) === 1) at += 3 + clx.readUInt16LE(at + 1);
  return clx.subarray(at + 5, at + 5 + clx.readUInt32LE(at + 1));
};

const readPieces = (clx: Buffer): Piece[] => {
  const table = pieceTable(clx);
  const places = readPositions(table, 8);
  return places.slice(0, -1).map((from, index) => {
    const packed = table.readUInt32LE(places.length * 4 + index * 8 + 2);
    const single = (packed & 0x4000_0000) !== 0;
    const at = packed & 0x3fff_ffff;
    return { from, to: places[index + 1] ?? from, offset: single ? at / 2 : at, width: single ? 1 : 2 };
  });
};

/** Does not use Buffer.toString, which writes beyond its memory for an odd number of bytes at an odd offset (Node 24.21). */
export const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });
const windows1252 = new TextDecoder("windows-1252");

const decodePiece = (main: Buffer, { from, to, offset, width }: Piece): string => {
  const bytes = main.subarray(offset, offset + Math.max(to - from, 0) * width);
  return width === 1 ? windows1252.decode(bytes) : utf16.decode(bytes);
};

/** Overlapping pieces could turn a small file into gigabytes of text. */
const refuseOverlaps = (pieces: Piece[], length: number): void => {
  const textLength = pieces.reduce((sum, { from, to, width }) => sum + Math.max(to - from, 0) * width, 0);
  if (textLength > length) throw new UnreadableFile("The file is damaged: it is shorter than its text.");
};

/** The range that contains a position, by binary search; the ranges are sorted and half open. */
export const findRange = <T extends { from: number; to: number }>(ranges: T[], position: number): T | undefined => {
  let low = 0;
  let high = ranges.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ranges[middle]?.from ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  const range = ranges[low];
  return range && position >= range.from && position < range.to ? range : undefined;
};

const locate = (pieces: Piece[], character: number): { offset: number; width: number; following: number } => {
  const piece = findRange(pieces, character);
  if (!piece) return { offset: -1, width: 1, following: 1 };
  const { from, to, offset, width } = piece;
  return { offset: offset + (character - from) * width, width, following: to - character };
};

/** Opens a Word document. Throws UnreadableFile, or a RangeError if it is truncated. */
export const openDoc = (bytes: Uint8Array): DocFile => {
  const container = CFB.read(Buffer.from(bytes), { type: "buffer" }) as object;
  const main = readStream(container, "WordDocument");
  if (main.readUInt16LE(0) !== WORD_97)
    throw new UnreadableFile("The file is of a version of Word that cannot be read.");
  const flags = main.readUInt16LE(0xa);
  if ((flags & ENCRYPTED) !== 0) throw new UnreadableFile("The file is protected by a password.");
  const stream = readStream(container, (flags & 0x0200) === 0 ? "0Table" : "1Table");
  const table = (number: number): Buffer => {
    const at = 0x9a + number * 8;
    const from = main.readUInt32LE(at);
    return stream.subarray(from, from + main.readUInt32LE(at + 4));
  };
  const pieces = readPieces(table(tables.pieces));
  refuseOverlaps(pieces, main.length);
  const [body = 0, footnotes = 0, headers = 0, comments = 0, endnotes = 0, boxes = 0] = [
    0x4c, 0x50, 0x54, 0x5c, 0x60, 0x64,
  ].map((at) => main.readUInt32LE(at));
  return {
    main,
    text: pieces.map((piece) => decodePiece(main, piece)).join(""),
    locate: (character) => locate(pieces, character),
    table,
    fonts: readFontNames(table(tables.fonts)),
    dataAfter: (number) => stream.subarray(main.readUInt32LE(0x9a + number * 8) + table(number).length),
    /** In characters. */
    lengths: { body, footnotes, headers, comments, endnotes, boxes },
  };
};
