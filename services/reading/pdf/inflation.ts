import { constants, inflateSync } from "node:zlib";
import { UnreadableFile } from "../reader.ts";
import { DAMAGED } from "./open.ts";

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

/** pdf.js copies its state at each "q" as a link of a chain and looks through all of it: 8,000 take 4 s, 50,000 for ever. */
const DEEPEST_STATE = 2_000;
const MOST_LEFT_OPEN = 6_000;

const isSpace = (sign: number | undefined): boolean =>
  sign === undefined || sign === 0 || (sign >= 9 && sign <= 13) || sign === 32;

/** How many saved states ("q") these drawing orders leave open. Throws UnreadableFile when they nest without an end. */
function statesLeftOpen(bytes: Uint8Array): number {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    if ((bytes[i]! | 0x20) !== 0x71 || !isSpace(bytes[i - 1]) || !isSpace(bytes[i + 1])) continue;
    depth += bytes[i] === 0x71 ? 1 : -1;
    if (depth > DEEPEST_STATE) throw new UnreadableFile(DAMAGED);
  }
  return Math.max(0, depth);
}

/** A stream through all its layers, and how much they take. Throws UnreadableFile over the limit; damaged layers end it. */
function unpack(stream: Uint8Array): { bytes: Uint8Array; size: number } {
  let bytes = stream;
  let size = 0;
  for (let layer = 0; layer < DEEPEST && isPacked(bytes); layer++) {
    try {
      bytes = inflateSync(bytes, OPTIONS);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
        throw new UnreadableFile(BOMB, { cause: error });
      return { bytes: new Uint8Array(), size };
    }
    size += bytes.length;
  }
  return { bytes, size };
}

/**
 * Refuses streams that unpack to more than a page can need, before pdf.js unpacks them without a limit.
 * Pictures are left out: nothing decodes them. Returns the size of the largest stream in bytes. Throws UnreadableFile.
 */
export function largestStream(file: Uint8Array): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  let [largest, all, open] = [0, 0, 0];
  for (let at = bytes.indexOf("stream"); at >= 0; at = bytes.indexOf("stream", at + 6)) {
    if (bytes[at - 1] === 0x64 && bytes.subarray(at - 3, at).toString("latin1") === "end") continue;
    const dictionary = bytes.subarray(Math.max(0, at - 1_000), at).toString("latin1");
    if (/\/Subtype\s*\/Image\b/.test(dictionary.slice(dictionary.lastIndexOf(" obj")))) continue;
    const start = at + 6 + (bytes[at + 6] === 13 ? 1 : 0) + (bytes[at + 6] === 10 || bytes[at + 7] === 10 ? 1 : 0);
    const packed = isPacked(bytes.subarray(start, start + 3));
    const end = packed ? bytes.length : Math.max(start, bytes.indexOf("endstream", start));
    const { bytes: orders, size } = unpack(bytes.subarray(start, end));
    open += statesLeftOpen(orders);
    largest = Math.max(largest, size);
    all += size;
    if (all > MOST_IN_ALL) throw new UnreadableFile(BOMB);
    if (open > MOST_LEFT_OPEN) throw new UnreadableFile(DAMAGED);
    if (!packed) at = end;
  }
  return largest;
}
