/* Compound files ([MS-CFB]) hold Office documents before 2007, encrypted ones, and e-mails of Outlook. This file only tells them apart. */

const SIGNATURE = Buffer.from("d0cf11e0a1b11ae1", "hex");

export const isCompound = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE);

type CompoundKind = "doc" | "xls" | "ppt" | "msg" | "encrypted";

/** Streams that tell the kind of a compound file. */
const STREAMS: [name: string, kind: CompoundKind][] = [
  ["EncryptedPackage", "encrypted"],
  ["WordDocument", "doc"],
  ["PowerPoint Document", "ppt"],
  ["Workbook", "xls"],
  ["Book", "xls"],
  ["__properties_version1.0", "msg"],
];

const ENTRY_BYTES = 128;
/** Sectors of the directory that are followed; the streams of the document itself are among the first. */
const MAX_SECTORS = 1_000;
/** Sectors of the allocation table that the header lists. */
const LISTED_SECTORS = 109;
const NONE = 0xffff_ffff;

/** A number in the file; NONE outside of it. */
const numberAt = (bytes: Buffer, at: number): number =>
  at >= 0 && at + 4 <= bytes.length ? bytes.readUInt32LE(at) : NONE;

const sectorBytes = (bytes: Buffer): number => 2 ** Math.min(12, bytes.length < 32 ? 9 : bytes.readUInt16LE(30));

/** The sector after one, by the allocation table. */
function nextSector(bytes: Buffer, sector: number): number {
  const size = sectorBytes(bytes);
  const perSector = size / 4;
  const listed = Math.floor(sector / perSector);
  if (listed >= LISTED_SECTORS) return NONE;
  return numberAt(bytes, (numberAt(bytes, 76 + listed * 4) + 1) * size + (sector % perSector) * 4);
}

function readDirectory(bytes: Buffer): Buffer {
  const size = sectorBytes(bytes);
  const sectors = new Set<number>();
  for (let sector = numberAt(bytes, 48); sectors.size < MAX_SECTORS; sector = nextSector(bytes, sector)) {
    if (sectors.has(sector) || (sector + 1) * size >= bytes.length) break;
    sectors.add(sector);
  }
  return Buffer.concat([...sectors].map((sector) => bytes.subarray((sector + 1) * size, (sector + 2) * size)));
}

/** The names in the outermost folder; a file embedded in the document has a folder of its own. */
function rootNames(bytes: Buffer): Set<string> {
  const directory = readDirectory(bytes);
  const names = new Set<string>();
  const seen = new Set<number>();
  const unread = [numberAt(directory, 76)];
  for (let entry = unread.pop(); entry !== undefined; entry = unread.pop()) {
    const at = entry * ENTRY_BYTES;
    if (seen.has(entry) || at + ENTRY_BYTES > directory.length) continue;
    seen.add(entry);
    const length = Math.min(64, Math.max(2, directory.readUInt16LE(at + 64))) - 2;
    names.add(directory.toString("utf16le", at, at + length));
    // the entries of a folder are a tree
    unread.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72));
  }
  return names;
}

const MEGABYTE = 1_000_000;

/** The places that have the stream names of a damaged file, most likely first: the directory, then the start and the end of the file. */
function* namePlaces(bytes: Buffer): Iterable<Buffer> {
  const directory = (numberAt(bytes, 48) + 1) * sectorBytes(bytes);
  yield bytes.subarray(directory, directory + 64 * 1024);
  yield bytes.subarray(0, MEGABYTE);
  yield bytes.subarray(-MEGABYTE);
}

/** The kind of a compound file; undefined when it has none of the known streams. */
export function detectCompoundKind(bytes: Buffer): CompoundKind | undefined {
  const names = rootNames(bytes);
  if (names.size > 0) return STREAMS.find(([name]) => names.has(name))?.[1];
  for (const place of namePlaces(bytes)) {
    const found = STREAMS.find(([name]) => place.includes(Buffer.from(`${name}\0`, "utf16le")));
    if (found) return found[1];
  }
  return undefined;
}
