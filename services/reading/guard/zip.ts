import { inflateRawSync } from "node:zlib";
import { UnreadableFile } from "../reader.ts";
import { decodeXml } from "./encoding.ts";
import { readZipDirectory, packedBytes, type ZipEntry } from "./zipDirectory.ts";

/** An archive in memory. Names are keys, never paths. */
export interface Zip {
  /** In the archive's order; folders end with a slash. */
  names(): string[];
  /** Whether the archive has this part, ignoring case. */
  has(name: string): boolean;
  /** Undefined if there is no such part. Ignores case if there is no exact match. */
  bytes(name: string): Uint8Array | undefined;
  /** The part as text, decoded by its first bytes or XML declaration, else as UTF-8. */
  text(name: string): string | undefined;
}

const inflate = (packed: Uint8Array, size: number): Uint8Array => {
  // zlib stops at the declared size, so a wrong size takes no memory
  const bytes = inflateRawSync(packed, { maxOutputLength: Math.max(size, 1), chunkSize: 65_536 });
  if (bytes.length !== size) throw new Error("The declared size is wrong");
  return bytes;
};

const unpack = (bytes: Uint8Array, entry: ZipEntry): Uint8Array => {
  if (entry.encrypted) throw new UnreadableFile("The file is protected by a password.");
  const packed = packedBytes(bytes, entry);
  if (entry.method === 0 && entry.packed === entry.size) return packed;
  if (entry.method !== 8) throw new UnreadableFile("The file is packed in a way that cannot be read.");
  try {
    return inflate(packed, entry.size);
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: a part of it cannot be unpacked.", { cause });
  }
};

/** Opens an archive. Throws UnreadableFile, also while reading a part: damaged, protected, or larger than declared or allowed. */
export const openZip = (bytes: Uint8Array): Zip => {
  const entries = new Map(readZipDirectory(bytes).map((entry) => [entry.name, entry]));
  const anyCase = new Map([...entries.values()].map((entry) => [entry.name.toLowerCase(), entry]));
  const find = (name: string): ZipEntry | undefined => entries.get(name) ?? anyCase.get(name.toLowerCase());
  const read = (name: string): Uint8Array | undefined => {
    const entry = find(name);
    return entry && unpack(bytes, entry);
  };
  return {
    names: () => [...entries.keys()],
    has: (name) => find(name) !== undefined,
    bytes: read,
    text(name) {
      const part = read(name);
      return part && decodeXml(part);
    },
  };
};

const isXml = (name: string): boolean => /\.(xml|rels|vml)$/i.test(name);

/**
 * Checks an archive before a library reads it: unpacks every part once, so that none is larger than declared, and refuses XML parts
 * with a document type. Throws UnreadableFile.
 */
export const checkZip = (bytes: Uint8Array): void => {
  for (const entry of readZipDirectory(bytes)) {
    const part = unpack(bytes, entry);
    if (isXml(entry.name) && Buffer.from(part.buffer, part.byteOffset, part.byteLength).includes("<!DOCTYPE")) {
      throw new UnreadableFile("The file declares a document type, which is not allowed.");
    }
  }
};
