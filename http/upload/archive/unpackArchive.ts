import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { ErrorCode } from "#events/errorCodes.ts";
import { ApiError } from "../../base/errors.ts";
import { concatenate, MAX_FILE_BYTES, type SentFile } from "../multipartForm.ts";
import { createByteSource, UnexpectedEnd, type ByteSource } from "./byteSource.ts";
import { InvalidArchive, readDescriptor, readEntryHeader, type EntryHeader } from "./entryHeader.ts";
import { inflateEntry } from "./inflateEntry.ts";

/** Limits of the unpacked size: in bytes, and beyond MIN_RATIO_BYTES as a multiple of the packed size. Text packs up to 20 to 1. */
const MAX_UNPACKED_BYTES = 500_000_000;
const MAX_RATIO = 200;
const MIN_RATIO_BYTES = 10_000_000;
const MAX_NAME_LENGTH = 1_000;
/** Maximum entries including skipped ones such as folders, because reading each header has a cost. */
const MAX_HEADERS = 20_000;

/** Counts bytes that a request holds; a negative number releases them. */
export type CountBytes = (bytes: number) => void;

/** An entry, or the reason why it cannot be unpacked. */
export type UnpackedEntry = { name: string } & ({ file: SentFile } | { error: ApiError });

/** The rest of the archive cannot be read. */
export class UnreadableArchive extends ApiError {}

const ended = (code: ErrorCode | null, message: string, cause?: unknown) =>
  new UnreadableArchive(code, message, { cause });
const damaged = (cause?: unknown) => ended("invalid_archive", "The archive is damaged or no ZIP archive.", cause);

/** Files that operating systems add themselves. */
const IGNORED = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)|\/$/;

const refuse = (message: string): ApiError => new ApiError("invalid_archive_entry", message);

/** The reason for refusing an entry unread, if any. */
function refusal({ name, isEncrypted, method, packed, hasDescriptor }: EntryHeader): ApiError | undefined {
  if (name.length > MAX_NAME_LENGTH) return refuse(`Its name is longer than ${MAX_NAME_LENGTH} characters.`);
  if (/(^|[/\\])\.\.([/\\]|$)|^[/\\]|^[a-z]:|\0/i.test(name)) return refuse("Its name leads out of the archive.");
  if (isEncrypted) return refuse("It is protected by a password.");
  if (method !== 0 && method !== 8) return refuse("It is packed in a way that cannot be read; use deflate.");
  if (method === 0 && (packed === undefined || hasDescriptor))
    return refuse("It is stored without its size; pack the archive again.");
  return undefined;
}

/** Collects the content of an entry, within the limits per file and per archive. */
function createCollector(source: ByteSource, before: { unpacked: number }, count: CountBytes) {
  const chunks: Buffer[] = [];
  const hash = createHash("sha256");
  let [bytes, checksum, held] = [0, 0, 0];
  return {
    take(piece: Buffer): void {
      bytes += piece.length;
      before.unpacked += piece.length;
      if (bytes > MAX_FILE_BYTES) throw ended("file_too_large", "It is larger than 100 MB; the rest was not read.");
      if (before.unpacked > MAX_UNPACKED_BYTES)
        throw ended("archive_too_large", "The archive unpacks to more than 500 MB; the rest was not read.");
      if (before.unpacked > MIN_RATIO_BYTES && before.unpacked > MAX_RATIO * source.taken())
        throw ended("archive_too_large", `The archive unpacks to more than ${MAX_RATIO} times its size.`);
      count(piece.length);
      held += piece.length;
      hash.update(piece);
      checksum = crc32(piece, checksum);
      chunks.push(piece);
    },
    held: () => held,
    checksum: () => checksum,
    file: async (filename: string): Promise<SentFile> => ({
      filename,
      mimetype: "",
      bytes: await concatenate(chunks),
      sha256: hash.digest("hex"),
    }),
  };
}

type Collector = ReturnType<typeof createCollector>;

async function readContent(source: ByteSource, header: EntryHeader, { take }: Collector): Promise<number> {
  const { method, packed, hasDescriptor, checksum } = header;
  if (method === 8) await inflateEntry(source, packed, take);
  else
    for (let rest = packed!; rest > 0; ) {
      const piece = await source.some(rest);
      rest -= piece.length;
      take(piece);
    }
  return hasDescriptor ? readDescriptor(source, header) : checksum!;
}

async function* readEntries(source: ByteSource, count: CountBytes): AsyncGenerator<UnpackedEntry> {
  const total = { unpacked: 0 };
  for (let n = 0; ; n++) {
    if (n % 100 === 99) await setImmediate();
    const header = await readEntryHeader(source);
    if (!header) return;
    if (n === MAX_HEADERS) throw ended("archive_too_large", "The archive has too many entries.");
    const { name, packed } = header;
    const isIgnored = IGNORED.test(name);
    const error = isIgnored ? undefined : refusal(header);
    if (error || isIgnored) {
      if (error) yield { name: name.slice(0, MAX_NAME_LENGTH), error };
      // folders have no content, but may have an empty descriptor
      if (packed === undefined && error) throw ended("invalid_archive", "What follows this entry cannot be found.");
      if (packed !== undefined) {
        await source.skip(packed);
        continue;
      }
    }
    const collector = createCollector(source, total, count);
    try {
      const expected = await readContent(source, header, collector);
      const error = refuse("It is damaged: its checksum is wrong.");
      if (isIgnored) continue;
      yield expected === collector.checksum() ? { name, file: await collector.file(name) } : { name, error };
    } finally {
      count(-collector.held());
    }
  }
}

/**
 * Yields the files of a ZIP archive one at a time, while it arrives. Throws UnreadableArchive if the rest cannot be read, because it
 * is damaged, too large, or packed more tightly than any text.
 */
export async function* unpackArchive(stream: AsyncIterable<Buffer>, count: CountBytes): AsyncGenerator<UnpackedEntry> {
  const source = createByteSource(stream);
  try {
    yield* readEntries(source, count);
  } catch (error) {
    const isDamage =
      error instanceof UnexpectedEnd ||
      error instanceof InvalidArchive ||
      (error as { code?: string }).code?.startsWith("Z_");
    throw isDamage ? damaged(error) : error;
  }
}
