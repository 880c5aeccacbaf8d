import { UnreadableFile } from "../reader.ts";

/* The central directory of a ZIP archive, checked for consistency. */

/** One packed file, as the central directory lists it. */
export interface ZipEntry {
  name: string;
  /** 0 is stored, 8 is deflated. */
  method: number;
  encrypted: boolean;
  /** Packed and unpacked size, in bytes. */
  packed: number;
  size: number;
  /** Offset of its local header. */
  offset: number;
}

const END = 0x06054b50;
const END64 = 0x06064b50;
const LOCATOR64 = 0x07064b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const FULL16 = 0xffff;
const FULL32 = 0xffffffff;
const MAX_ENTRIES = 10_000;
/** Maximum unpacked bytes of all entries. */
const MAX_TOTAL = 500_000_000;
/** Maximum ratio of unpacked to packed size of an entry. */
const MAX_RATIO = 200;
/** Unpacked bytes below which any ratio is accepted. */
const MIN_RATIO_SIZE = 10_000_000;

const damaged = (): UnreadableFile => new UnreadableFile("The file is damaged: its ZIP archive is incomplete.");
const tooLarge = (): UnreadableFile => new UnreadableFile("The file is too large once it is unpacked.");

const toView = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The end record takes the last 22 bytes, before a comment of up to 64 kB. */
const findEnd = (view: DataView): number => {
  const lowest = Math.max(0, view.byteLength - 22 - FULL16);
  for (let at = view.byteLength - 22; at >= lowest; at -= 1) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw damaged();
};

const readUint64 = (view: DataView, at: number): number => Number(view.getBigUint64(at, true));

const findDirectory = (view: DataView): { count: number; start: number; end: number } => {
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  const start = view.getUint32(end + 16, true);
  if (count !== FULL16 && start !== FULL32) return { count, start, end };
  if (end < 20 || view.getUint32(end - 20, true) !== LOCATOR64) return { count, start, end };
  const end64 = readUint64(view, end - 20 + 8);
  if (end64 + 56 > end || view.getUint32(end64, true) !== END64) throw damaged();
  return { count: readUint64(view, end64 + 32), start: readUint64(view, end64 + 48), end: end64 };
};

/** Values that do not fit 32 bits are in an extra field, in this order, and only those. */
const readWideFields = (view: DataView, from: number, to: number, short: number[]): number[] => {
  if (!short.includes(FULL32)) return short;
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    let next = at + 4;
    return short.map((value) => {
      if (value !== FULL32) return value;
      next += 8;
      return readUint64(view, next - 8);
    });
  }
  throw damaged();
};

const decodeName = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replaceAll("\\", "/");

const readEntry = (bytes: Uint8Array, view: DataView, at: number): { entry: ZipEntry; next: number } => {
  if (view.getUint32(at, true) !== ENTRY) throw damaged();
  const nameEnd = at + 46 + view.getUint16(at + 28, true);
  const extraEnd = nameEnd + view.getUint16(at + 30, true);
  const short = [24, 20, 42].map((field) => view.getUint32(at + field, true));
  const [size = 0, packed = 0, offset = 0] = readWideFields(view, nameEnd, extraEnd, short);
  const entry = {
    name: decodeName(bytes.subarray(at + 46, nameEnd)),
    method: view.getUint16(at + 10, true),
    encrypted: (view.getUint16(at + 8, true) & 1) === 1,
    packed,
    size,
    offset,
  };
  return { entry, next: extraEnd + view.getUint16(at + 32, true) };
};

/** The packed bytes of an entry. */
export const packedBytes = (bytes: Uint8Array, entry: ZipEntry): Uint8Array => {
  const view = toView(bytes);
  if (entry.offset + 30 > bytes.length || view.getUint32(entry.offset, true) !== LOCAL) throw damaged();
  const start = entry.offset + 30 + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true);
  if (start + entry.packed > bytes.length) throw damaged();
  return bytes.subarray(start, start + entry.packed);
};

/** Overlapping entries can turn 42 kB into gigabytes. */
const refuseOverlaps = (bytes: Uint8Array, entries: ZipEntry[], directory: number): void => {
  let free = 0;
  for (const entry of entries.toSorted((one, other) => one.offset - other.offset)) {
    if (entry.offset < free) throw damaged();
    const packed = packedBytes(bytes, entry);
    free = packed.byteOffset - bytes.byteOffset + packed.byteLength;
  }
  if (free > directory) throw damaged();
};

const refuseBombs = (entries: ZipEntry[]): void => {
  let total = 0;
  for (const { size, packed } of entries) {
    total += size;
    if (size > MIN_RATIO_SIZE && size > packed * MAX_RATIO) throw tooLarge();
  }
  if (total > MAX_TOTAL) throw tooLarge();
};

const scan = (bytes: Uint8Array): ZipEntry[] => {
  const view = toView(bytes);
  const { count, start, end } = findDirectory(view);
  if (count > MAX_ENTRIES) throw new UnreadableFile("The file contains too many parts.");
  const entries: ZipEntry[] = [];
  let at = start;
  while (entries.length < count) {
    const { entry, next } = readEntry(bytes, view, at);
    entries.push(entry);
    at = next;
  }
  if (at > end) throw damaged();
  refuseBombs(entries);
  refuseOverlaps(bytes, entries, start);
  return entries;
};

/** The packed files of an archive. Throws UnreadableFile: not an archive, too many files, too large, overlapping. */
export const readZipDirectory = (bytes: Uint8Array): ZipEntry[] => {
  try {
    return scan(bytes);
  } catch (error) {
    // a read beyond the end of the DataView
    if (error instanceof RangeError) throw damaged();
    throw error;
  }
};
