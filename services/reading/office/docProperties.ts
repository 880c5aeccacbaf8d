import { type DocFile, readPositions, tables } from "./docFile.ts";

/* Formats of paragraphs and characters ([MS-DOC]): ranges of the main stream, each with a style and its modifiers. */

/** Property modifiers (Sprm) by their number; the last of equal ones counts. */
export type Modifiers = Map<number, Buffer>;

export interface FormatRun {
  /** Byte offsets in the main stream, half open. */
  from: number;
  to: number;
  style: number;
  modifiers: Modifiers;
}

/** Bytes of a page of formats. */
const PAGE_SIZE = 512;
/** Bytes of an operand, by the top bits of the modifier's number; 0: its size precedes it. */
const OPERAND_SIZES = [1, 1, 2, 4, 2, 2, 0, 3];
const TABLE_DEFINITION = 0xd608;

export const readModifiers = (bytes: Buffer): Modifiers => {
  const modifiers: Modifiers = new Map();
  for (let at = 0; at + 2 < bytes.length; ) {
    const number = bytes.readUInt16LE(at);
    let start = at + 2;
    let size = OPERAND_SIZES[number >> 13] ?? 1;
    if (number === TABLE_DEFINITION) {
      size = bytes.readUInt16LE(start) - 1;
      start += 2;
    } else if (size === 0) {
      size = bytes.readUInt8(start);
      start += 1;
    }
    modifiers.set(number, bytes.subarray(start, start + size));
    at = start + Math.max(size, 0);
  }
  return modifiers;
};

const paragraphEntry = (page: Buffer, at: number): { style: number; modifiers: Modifiers } => {
  const words = page.readUInt8(at);
  const start = words === 0 ? at + 2 : at + 1;
  const size = words === 0 ? page.readUInt8(at + 1) * 2 : words * 2 - 1;
  const bytes = page.subarray(start, start + size);
  if (bytes.length < 2) return { style: 0, modifiers: new Map() };
  return { style: bytes.readUInt16LE(0), modifiers: readModifiers(bytes.subarray(2)) };
};

const characterEntry = (page: Buffer, at: number): { style: number; modifiers: Modifiers } => ({
  style: 0,
  modifiers: readModifiers(page.subarray(at + 1, at + 1 + page.readUInt8(at))),
});

const readPage = (page: Buffer, entrySize: 1 | 13): FormatRun[] => {
  const count = page.readUInt8(PAGE_SIZE - 1);
  return Array.from({ length: count }, (_, index) => {
    const at = page.readUInt8((count + 1) * 4 + index * entrySize) * 2;
    const entry = entrySize === 13 ? paragraphEntry : characterEntry;
    const entryProperties = at === 0 ? { style: 0, modifiers: new Map() } : entry(page, at);
    return { from: page.readUInt32LE(index * 4), to: page.readUInt32LE(index * 4 + 4), ...entryProperties };
  });
};

/** The formats of paragraphs or of characters, by their offset in the main stream. */
export const readFormatRuns = (file: DocFile, kind: "paragraphFormats" | "characterFormats"): FormatRun[] => {
  const table = file.table(tables[kind]);
  const positions = readPositions(table, 4);
  const pages = positions.slice(0, -1).map((_, index) => table.readUInt32LE(positions.length * 4 + index * 4));
  const runs = [...new Set(pages)].flatMap((number) =>
    readPage(file.main.subarray(number * PAGE_SIZE, (number + 1) * PAGE_SIZE), kind === "paragraphFormats" ? 13 : 1),
  );
  return runs.toSorted((one, other) => one.from - other.from);
};

export const readFlag = (modifiers: Modifiers | undefined, number: number): boolean => {
  const value = modifiers?.get(number);
  return value !== undefined && value.length > 0 && value[0] !== 0;
};

/** An operand of one or two bytes. */
export const readNumber = (modifiers: Modifiers, number: number): number | undefined => {
  const value = modifiers.get(number);
  if (!value || value.length === 0) return undefined;
  return value.length === 1 ? value.readUInt8(0) : value.readInt16LE(0);
};
