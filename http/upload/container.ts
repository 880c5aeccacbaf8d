import { types } from "#events/mediaTypes.ts";

/* What is packed in an archive is told by the names in it; nothing is unpacked here. */

const ENTRY = 0x04034b50;
const IN_DIRECTORY = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
/** The end of the directory and a comment of 64 KiB. */
const LONGEST_END = 65_557;
/** Names that are looked at; what tells the type stands among the first. */
const MOST_NAMES = 2_000;

export const isZip = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === ENTRY;

/** OpenDocument and EPUB begin with an entry of this name that holds their type as it is. */
function declaredWithin(bytes: Buffer): string {
  if (bytes.length < 38 || bytes.readUInt16LE(26) !== 8 || bytes.toString("latin1", 30, 38) !== "mimetype") return "";
  const start = 38 + bytes.readUInt16LE(28);
  return bytes.toString("latin1", start, start + 80);
}

function startOfDirectory(bytes: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - LONGEST_END));
  for (let at = tail.length - 22; at >= 0; at--)
    if (tail.readUInt32LE(at) === END_OF_DIRECTORY) return tail.readUInt32LE(at + 16);
  return bytes.length;
}

function* namesOf(bytes: Buffer): Iterable<string> {
  let at = startOfDirectory(bytes);
  for (let n = 0; n < MOST_NAMES && at + 46 <= bytes.length && bytes.readUInt32LE(at) === IN_DIRECTORY; n++) {
    const length = bytes.readUInt16LE(at + 28);
    yield bytes.toString("latin1", at + 46, at + 46 + length);
    at += 46 + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

const PACKED: [folder: string, type: string][] = [
  ["word/", types.docx],
  ["ppt/", types.pptx],
  ["xl/", types.xlsx],
];

/** The type of an Office, OpenDocument or EPUB file; undefined for any other archive. Its content is not looked at. */
export function typeOfZip(bytes: Buffer): string | undefined {
  const declared = declaredWithin(bytes);
  const open = [types.odt, types.odp, types.ods, types.epub].find((type) => declared.startsWith(type));
  if (open) return open;
  for (const name of namesOf(bytes)) {
    const packed = PACKED.find(([folder]) => name.startsWith(folder));
    if (packed) return packed[1];
  }
  return undefined;
}

const COMPOUND = Buffer.from("d0cf11e0a1b11ae1", "hex");

export const isCompound = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(COMPOUND);

/** Streams of a compound file are named in UTF-16. An encrypted Office file of today is such a file as well. */
const STREAMS: [name: string, kind: "doc" | "xls" | "ppt" | "encrypted"][] = [
  ["EncryptedPackage", "encrypted"],
  ["WordDocument", "doc"],
  ["PowerPoint Document", "ppt"],
  ["Workbook", "xls"],
  ["Book\0", "xls"],
];

/** Where the names of a compound file are, most often: in its directory, else near its start or end. */
function* namedPlaces(bytes: Buffer): Iterable<Buffer> {
  if (bytes.length < 52) return;
  const directory = (bytes.readUInt32LE(48) + 1) * 2 ** Math.min(12, bytes.readUInt16LE(30));
  yield bytes.subarray(directory, directory + 64 * 1024);
  yield bytes.subarray(0, MEGABYTE);
  yield bytes.subarray(-MEGABYTE);
}
const MEGABYTE = 1_000_000;

/** What a compound file holds; undefined where its names do not tell. */
export function kindOfCompound(bytes: Buffer): "doc" | "xls" | "ppt" | "encrypted" | undefined {
  for (const place of namedPlaces(bytes)) {
    const found = STREAMS.find(([name]) => place.includes(Buffer.from(name, "utf16le")));
    if (found) return found[1];
  }
  return undefined;
}
