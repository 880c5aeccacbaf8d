import { constants, inflateSync } from "node:zlib";
import { UnreadableFile } from "../reader.ts";

/** A page's drawing orders rarely take 2 MB; pdf.js needs about 60 times as much memory to follow them. */
const MOST_PER_STREAM = 32_000_000;
const MOST_IN_ALL = 1_500_000_000;
/** Filters upon filters. */
const DEEPEST = 8;

const BOMB = "The PDF unpacks to far more than its size and is not read.";

/** Is it packed by zlib? By its first two bytes, whatever the stream's dictionary says. */
const isPacked = (bytes: Uint8Array): boolean =>
  bytes.length > 2 && (bytes[0]! & 0x0f) === 8 && bytes[0]! >> 4 <= 7 && ((bytes[0]! << 8) | bytes[1]!) % 31 === 0;

const OPTIONS = { maxOutputLength: MOST_PER_STREAM, finishFlush: constants.Z_SYNC_FLUSH };

/** How much a stream unpacks to, through all its layers. Throws UnreadableFile over the limit; damaged streams count as nothing. */
function unpackedSize(stream: Uint8Array): number {
  let bytes = stream;
  let size = 0;
  for (let layer = 0; layer < DEEPEST && isPacked(bytes); layer++) {
    try {
      bytes = inflateSync(bytes, OPTIONS);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
        throw new UnreadableFile(BOMB, { cause: error });
      return size;
    }
    size += bytes.length;
  }
  return size;
}

/**
 * Refuses streams that unpack to more than a page can need, before pdf.js unpacks them without a limit.
 * Pictures are left out: nothing decodes them. Returns the size of the largest stream in bytes. Throws UnreadableFile.
 */
export function largestStream(file: Uint8Array): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  let [largest, all] = [0, 0];
  for (let at = bytes.indexOf("stream"); at >= 0; at = bytes.indexOf("stream", at + 6)) {
    if (bytes[at - 1] === 0x64 && bytes.subarray(at - 3, at).toString("latin1") === "end") continue;
    const dictionary = bytes.subarray(Math.max(0, at - 1_000), at).toString("latin1");
    if (/\/Subtype\s*\/Image\b/.test(dictionary.slice(dictionary.lastIndexOf(" obj")))) continue;
    const start = at + 6 + (bytes[at + 6] === 13 ? 1 : 0) + (bytes[at + 6] === 10 || bytes[at + 7] === 10 ? 1 : 0);
    const size = unpackedSize(bytes.subarray(start));
    largest = Math.max(largest, size);
    all += size;
    if (all > MOST_IN_ALL) throw new UnreadableFile(BOMB);
  }
  return largest;
}
