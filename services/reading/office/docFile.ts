import { CFB } from "@e965/xlsx";
import { UnreadableFile } from "../reader.ts";

/* The binary format of Word 97 to 2003 ([MS-DOC]): where its tables are, and where its text lies. */

interface Piece {
  from: number;
  to: number;
  /** Where its first sign stands in the main stream. */
  at: number;
  /** Bytes for each sign. */
  width: 1 | 2;
}

export interface DocFile {
  main: Buffer;
  /** The whole text: document, footnotes, headers, comments, endnotes, text boxes, one behind the other. */
  text: string;
  /** Where a sign of the text stands in the main stream, with so many bytes each for it and those that follow it there. */
  locate(sign: number): { place: number; width: number; following: number };
  /** A table by its number in the file's list of tables. */
  table(number: number): Buffer;
  /** What stands behind a table. */
  behind(number: number): Buffer;
  lengths: { body: number; footnotes: number; headers: number; comments: number; endnotes: number; boxes: number };
}

export const tables = {
  styles: 1,
  footnoteMarks: 2,
  footnotes: 3,
  looks: 12,
  paragraphs: 13,
  pieces: 33,
  endnoteMarks: 46,
  endnotes: 47,
  lists: 73,
  listUses: 74,
};

const WORD_97 = 0xa5ec;
const ENCRYPTED = 0x0100;

const streamOf = (container: object, name: string): Buffer => {
  const found = CFB.find(container, name) as { content?: Uint8Array } | null;
  if (!found?.content) throw new UnreadableFile("The file is damaged: it is not a Word document.");
  return Buffer.from(found.content);
};

/** The numbers at the beginning of a row of places, and how many entries lie between them. */
export const placesIn = (table: Buffer, entrySize: number): number[] => {
  const count = Math.max(Math.floor((table.length - 4) / (4 + entrySize)), 0);
  return table.length < 4 ? [] : Array.from({ length: count + 1 }, (_, at) => table.readUInt32LE(at * 4));
};

/** Piece tables lie behind any number of other entries, each with its length. */
const pieceTable = (clx: Buffer): Buffer => {
  let at = 0;
  while (clx.readUInt8(at) === 1) at += 3 + clx.readUInt16LE(at + 1);
  return clx.subarray(at + 5, at + 5 + clx.readUInt32LE(at + 1));
};

const readPieces = (clx: Buffer): Piece[] => {
  const table = pieceTable(clx);
  const places = placesIn(table, 8);
  return places.slice(0, -1).map((from, index) => {
    const packed = table.readUInt32LE(places.length * 4 + index * 8 + 2);
    const single = (packed & 0x4000_0000) !== 0;
    const at = packed & 0x3fff_ffff;
    return { from, to: places[index + 1] ?? from, at: single ? at / 2 : at, width: single ? 1 : 2 };
  });
};

/** Not Buffer.toString: for an odd number of bytes from an odd place it writes past its memory (Node 24.21). */
export const wide = new TextDecoder("utf-16le", { ignoreBOM: true });
const western = new TextDecoder("windows-1252");

const textOfPiece = (main: Buffer, { from, to, at, width }: Piece): string => {
  const bytes = main.subarray(at, at + Math.max(to - from, 0) * width);
  return width === 1 ? western.decode(bytes) : wide.decode(bytes);
};

/** Pieces that share bytes are how a small file becomes gigabytes of text. */
const refuseOverlaps = (pieces: Piece[], length: number): void => {
  const claimed = pieces.reduce((sum, { from, to, width }) => sum + Math.max(to - from, 0) * width, 0);
  if (claimed > length) throw new UnreadableFile("The file is damaged: it is shorter than its text.");
};

const locateIn = (pieces: Piece[], sign: number): { place: number; width: number; following: number } => {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle]?.from ?? 0) <= sign) low = middle;
    else high = middle - 1;
  }
  const piece = pieces[low];
  if (!piece || sign < piece.from || sign >= piece.to) return { place: -1, width: 1, following: 1 };
  return { place: piece.at + (sign - piece.from) * piece.width, width: piece.width, following: piece.to - sign };
};

/** Opens a Word document. Throws UnreadableFile, or a RangeError where it is cut off. */
export const openDoc = (bytes: Uint8Array): DocFile => {
  const container = CFB.read(Buffer.from(bytes), { type: "buffer" }) as object;
  const main = streamOf(container, "WordDocument");
  if (main.readUInt16LE(0) !== WORD_97)
    throw new UnreadableFile("The file is of a version of Word that cannot be read.");
  const flags = main.readUInt16LE(0xa);
  if ((flags & ENCRYPTED) !== 0) throw new UnreadableFile("The file is protected by a password.");
  const stream = streamOf(container, (flags & 0x0200) === 0 ? "0Table" : "1Table");
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
    text: pieces.map((piece) => textOfPiece(main, piece)).join(""),
    locate: (sign) => locateIn(pieces, sign),
    table,
    behind: (number) => stream.subarray(main.readUInt32LE(0x9a + number * 8) + table(number).length),
    lengths: { body, footnotes, headers, comments, endnotes, boxes },
  };
};
