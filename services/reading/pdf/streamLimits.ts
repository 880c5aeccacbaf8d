import { constants, inflateSync } from "node:zlib";
import { UnreadableFile } from "../reader.ts";
import { createFormDrawCounter } from "./formDraws.ts";
import { DAMAGED_PDF } from "./openPdf.ts";

/** Maximum bytes of one unpacked stream. A page's operators rarely take 2 MB, and pdf.js needs about 60 times as much memory to run them. */
const MAX_STREAM = 32_000_000;
/** Maximum bytes of all unpacked streams. */
const MAX_TOTAL = 1_500_000_000;
/** Maximum nested compression filters. */
const MAX_LAYERS = 8;

const BOMB = "The PDF unpacks to far more than its size and is not read.";

/** Whether a stream is zlib data, by its first two bytes, whatever its dictionary says. */
const isPacked = (bytes: Uint8Array): boolean =>
  bytes.length > 2 && (bytes[0]! & 0x0f) === 8 && bytes[0]! >> 4 <= 7 && ((bytes[0]! << 8) | bytes[1]!) % 31 === 0;

const OPTIONS = { maxOutputLength: MAX_STREAM, finishFlush: constants.Z_SYNC_FLUSH };

/** Maximum nested saved states ("q"). pdf.js searches the whole chain of states: 8,000 take 4 s, 50,000 never end. */
const MAX_STATE_DEPTH = 2_000;
/** Maximum saved states that all streams together may leave open. */
const MAX_UNCLOSED = 6_000;

const isSpace = (sign: number | undefined): boolean =>
  sign === undefined || sign === 0 || (sign >= 9 && sign <= 13) || sign === 32;

/** How many saved states ("q") the operators leave open. Throws UnreadableFile if they nest too deeply. */
function unclosedStates(bytes: Uint8Array): number {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    if ((bytes[i]! | 0x20) !== 0x71 || !isSpace(bytes[i - 1]) || !isSpace(bytes[i + 1])) continue;
    depth += bytes[i] === 0x71 ? 1 : -1;
    if (depth > MAX_STATE_DEPTH) throw new UnreadableFile(DAMAGED_PDF);
  }
  return Math.max(0, depth);
}

/** Unpacks a stream through all its layers; `size`: bytes of all layers. Throws UnreadableFile above the limit. A damaged layer gives no bytes. */
function unpack(stream: Uint8Array): { bytes: Uint8Array; size: number } {
  let bytes = stream;
  let size = 0;
  for (let layer = 0; layer < MAX_LAYERS && isPacked(bytes); layer++) {
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
 * Checks the streams of a file, which pdf.js would unpack without a limit: throws UnreadableFile for more than a page can need.
 * Skips images, because nothing decodes them. Returns the size of the largest unpacked stream, in bytes.
 */
export function largestStream(file: Uint8Array): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const forms = createFormDrawCounter(bytes);
  let [largest, all, open] = [0, 0, 0];
  for (let at = bytes.indexOf("stream"); at >= 0; at = bytes.indexOf("stream", at + 6)) {
    if (bytes[at - 1] === 0x64 && bytes.subarray(at - 3, at).toString("latin1") === "end") continue;
    const dictionary = bytes.subarray(Math.max(0, at - 1_000), at).toString("latin1");
    if (/\/Subtype\s*\/Image\b/.test(dictionary.slice(dictionary.lastIndexOf(" obj")))) continue;
    const start = at + 6 + (bytes[at + 6] === 13 ? 1 : 0) + (bytes[at + 6] === 10 || bytes[at + 7] === 10 ? 1 : 0);
    const packed = isPacked(bytes.subarray(start, start + 3));
    const end = packed ? bytes.length : Math.max(start, bytes.indexOf("endstream", start));
    const { bytes: operators, size } = unpack(bytes.subarray(start, end));
    open += unclosedStates(operators);
    forms.add(dictionary, operators);
    largest = Math.max(largest, size);
    all += size;
    if (all > MAX_TOTAL) throw new UnreadableFile(BOMB);
    if (open > MAX_UNCLOSED) throw new UnreadableFile(DAMAGED_PDF);
    if (!packed) at = end;
  }
  forms.check();
  return largest;
}
