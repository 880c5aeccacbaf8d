import { MEDIA_TYPES } from "#events/mediaTypes.ts";

/* Detects the type of an archive by the names of its entries. Nothing is unpacked here. */

const ENTRY_SIGNATURE = 0x04034b50;
const DIRECTORY_SIGNATURE = 0x02014b50;
const END_SIGNATURE = 0x06054b50;
/** Maximum size of the end record with its comment of up to 64 KiB. */
const MAX_END_BYTES = 65_557;
/** Maximum names examined. The name that shows the type is among the first. */
const MAX_NAMES = 2_000;
/** Bytes read of a name, enough for the longest of OFFICE_FOLDERS. A name may have 64 KiB. */
const NAME_BYTES = 5;

export const isZip = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === ENTRY_SIGNATURE;

/** OpenDocument and EPUB files start with an uncompressed entry `mimetype` that contains their type. */
function readMimetypeEntry(bytes: Buffer): string {
  if (bytes.length < 38 || bytes.readUInt16LE(26) !== 8 || bytes.toString("latin1", 30, 38) !== "mimetype") return "";
  const start = 38 + bytes.readUInt16LE(28);
  return bytes.toString("latin1", start, start + 80);
}

function directoryStart(bytes: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - MAX_END_BYTES));
  for (let at = tail.length - 22; at >= 0; at--)
    if (tail.readUInt32LE(at) === END_SIGNATURE) return tail.readUInt32LE(at + 16);
  return bytes.length;
}

/** The beginnings of the names. */
function* entryNames(bytes: Buffer): Iterable<string> {
  let at = directoryStart(bytes);
  for (let n = 0; n < MAX_NAMES && at + 46 <= bytes.length && bytes.readUInt32LE(at) === DIRECTORY_SIGNATURE; n++) {
    const length = bytes.readUInt16LE(at + 28);
    yield bytes.toString("latin1", at + 46, at + 46 + Math.min(length, NAME_BYTES));
    at += 46 + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

const OFFICE_FOLDERS: [folder: string, type: string][] = [
  ["word/", MEDIA_TYPES.docx],
  ["ppt/", MEDIA_TYPES.pptx],
  ["xl/", MEDIA_TYPES.xlsx],
];

/** The type of an Office, OpenDocument or EPUB file; undefined for any other archive. Its content is not checked. */
export function detectZipType(bytes: Buffer): string | undefined {
  const declared = readMimetypeEntry(bytes);
  const open = [MEDIA_TYPES.odt, MEDIA_TYPES.odp, MEDIA_TYPES.ods, MEDIA_TYPES.epub].find((type) =>
    declared.startsWith(type),
  );
  if (open) return open;
  for (const name of entryNames(bytes)) {
    const office = OFFICE_FOLDERS.find(([folder]) => name.startsWith(folder));
    if (office) return office[1];
  }
  return undefined;
}
