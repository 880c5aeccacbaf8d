/* Reads the tags of a TIFF file. */

/** The tags of one page. */
export interface TiffDirectory {
  /** All values of a tag; empty if it is missing or damaged. */
  all(tag: number): number[];
  /** Its first value. */
  one(tag: number, missing: number): number;
}

/** Bytes of a value by its type: byte, text, short, long. Other types are of no interest. */
const SIZES: Record<number, 1 | 2 | 4> = { 1: 1, 3: 2, 4: 4, 7: 1 };
/** Values of one tag: a picture cut into strips of a row each. */
const MAX_VALUES = 100_000;
const ENTRY_BYTES = 12;

type ReadNumber = (at: number, size: 1 | 2 | 4) => number;

/** Numbers in the file's byte order; 0 beyond its end. */
const numbersIn =
  (bytes: Buffer, isLittle: boolean): ReadNumber =>
  (at, size) => {
    if (at + size > bytes.length) return 0;
    return isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
  };

function readDirectory(read: ReadNumber, at: number, count: number): TiffDirectory {
  const entries = new Map<number, number>();
  for (let n = 0; n < count; n++) entries.set(read(at + n * ENTRY_BYTES, 2), at + n * ENTRY_BYTES);
  const all = (tag: number, most = MAX_VALUES): number[] => {
    const entry = entries.get(tag);
    const size = entry === undefined ? undefined : SIZES[read(entry + 2, 2)];
    if (entry === undefined || size === undefined) return [];
    const length = Math.min(most, read(entry + 4, 4));
    const start = read(entry + 4, 4) * size <= 4 ? entry + 8 : read(entry + 8, 4);
    return Array.from({ length }, (_, n) => read(start + n * size, size));
  };
  return { all, one: (tag, missing) => all(tag, 1)[0] ?? missing };
}

/** The directories of a file, one for each page; one more than `most` if there are more. None if it is no TIFF file. */
export function readTiffDirectories(bytes: Buffer, most: number): TiffDirectory[] {
  const order = bytes.toString("latin1", 0, 2);
  const read = numbersIn(bytes, order === "II");
  if ((order !== "II" && order !== "MM") || read(2, 2) !== 42) return [];
  const directories: TiffDirectory[] = [];
  const seen = new Set<number>();
  let at = read(4, 4);
  while (at > 0 && at + 2 <= bytes.length && !seen.has(at) && directories.length <= most) {
    seen.add(at);
    const count = read(at, 2);
    directories.push(readDirectory(read, at + 2, count));
    at = read(at + 2 + count * ENTRY_BYTES, 4);
  }
  return directories;
}
