import type { ByteSource } from "./byteSource.ts";

/* Reads the header before each entry of a ZIP archive (APPNOTE 4.3.7). */

const ENTRY = 0x04034b50;
/** Signatures that follow the last entry: the directory, or the end of an empty archive. */
const AFTER_ENTRIES = new Set([0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50]);
const HEADER_BYTES = 26;
const ZIP64 = 0x0001;
const UNKNOWN_SIZE = 0xffffffff;

export interface EntryHeader {
  name: string;
  isEncrypted: boolean;
  /** 0: stored; 8: deflated. */
  method: number;
  /** Whether sizes and checksum follow the content. */
  hasDescriptor: boolean;
  isZip64: boolean;
  /** Compressed bytes; undefined if only the end of the content shows it. */
  packed: number | undefined;
  /** CRC-32; undefined if it follows the content. */
  checksum: number | undefined;
}

/** The stream is not a ZIP archive, or it is damaged. */
export class InvalidArchive extends Error {
  override name = "InvalidArchive";
}

function decodeName(bytes: Buffer, isUtf8: boolean): string {
  if (isUtf8) return bytes.toString("utf8");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}

/** Reads the compressed size from the field for large files; undefined without that field. */
function readLargeSize(extra: Buffer): { packed: number | undefined } | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64) continue;
    const size = extra.readUInt16LE(at + 2);
    return { packed: size >= 16 && at + 20 <= extra.length ? Number(extra.readBigUInt64LE(at + 12)) : undefined };
  }
  return undefined;
}

/** Reads the header of the next entry; undefined after the last one. Throws InvalidArchive and UnexpectedEnd. */
export async function readEntryHeader(source: ByteSource): Promise<EntryHeader | undefined> {
  const signature = (await source.exactly(4)).readUInt32LE();
  if (AFTER_ENTRIES.has(signature)) return undefined;
  if (signature !== ENTRY) throw new InvalidArchive("no header of an entry");
  const fixed = await source.exactly(HEADER_BYTES);
  const flags = fixed.readUInt16LE(2);
  const name = await source.exactly(fixed.readUInt16LE(22));
  const large = readLargeSize(await source.exactly(fixed.readUInt16LE(24)));
  const hasDescriptor = (flags & 8) !== 0;
  const declared = fixed.readUInt32LE(14);
  const packed = declared === UNKNOWN_SIZE ? large?.packed : declared;
  return {
    name: decodeName(name, (flags & 2048) !== 0),
    isEncrypted: (flags & 1) !== 0,
    method: fixed.readUInt16LE(4),
    hasDescriptor,
    isZip64: large !== undefined,
    packed: hasDescriptor ? undefined : packed,
    checksum: hasDescriptor ? undefined : fixed.readUInt32LE(10),
  };
}

const DESCRIPTOR = 0x08074b50;

/** Reads the checksum after an entry's content. The signature before it is optional. */
export async function readDescriptor(source: ByteSource, { isZip64 }: EntryHeader): Promise<number> {
  const first = (await source.exactly(4)).readUInt32LE();
  const checksum = first === DESCRIPTOR ? (await source.exactly(4)).readUInt32LE() : first;
  await source.skip(isZip64 ? 16 : 8);
  return checksum;
}
