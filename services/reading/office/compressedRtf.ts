import { deEncapsulateSync } from "rtf-stream-parser";
import { codePageEncoding, decodeBytes } from "./rtfCharset.ts";

/* The text of Outlook's messages as compressed RTF ([MS-OXRTFCP]), which often contains a web page ([MS-OXRTFEX]). */

const HEADER = 16;
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
/** A larger body is not read. It contains pictures or files, and the message also has its text in another form. */
const MAX_BYTES = 16 * 1024 * 1024;

const WINDOW = 4_096;
/** A control byte and eight tokens of two bytes become 136 bytes. */
const MAX_RATIO = 8;
/** What the window contains at the start. */
const DICTIONARY =
  "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier" +
  "{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/** Each control byte announces eight tokens: a byte, or a place in the window and a length. */
function decompress(input: Buffer, stated: number): Buffer {
  const size = Math.min(stated, MAX_RATIO * input.length);
  const output = Buffer.alloc(size);
  const window = Buffer.alloc(WINDOW);
  let [read, written, place] = [0, 0, window.write(DICTIONARY, "latin1")];
  const write = (byte: number): void => {
    if (written < size) output[written++] = byte;
    window[place] = byte;
    place = (place + 1) % WINDOW;
  };
  while (read < input.length && written < size) {
    const control = input[read++]!;
    for (let bit = 0; bit < 8 && read < input.length; bit++) {
      if (((control >> bit) & 1) === 0) {
        write(input[read++]!);
        continue;
      }
      if (read + 2 > input.length) return output.subarray(0, written);
      const token = input.readUInt16BE(read);
      read += 2;
      const from = token >> 4;
      // a token that points to the place of the next byte marks the end
      if (from === place) return output.subarray(0, written);
      for (let n = 0; n < (token & 15) + 2; n++) write(window[(from + n) % WINDOW]!);
    }
  }
  return output.subarray(0, written);
}

/** Decompresses the RTF, if it is compressed at all. Undefined for other content and above 16 MiB. */
function openRtf(bytes: Buffer): Buffer | undefined {
  if (bytes.length < HEADER) return undefined;
  const size = bytes.readUInt32LE(4);
  const kind = bytes.readUInt32LE(8);
  if (size > MAX_BYTES) return undefined;
  const content = bytes.subarray(HEADER, bytes.readUInt32LE(0) + 4);
  if (kind === UNCOMPRESSED) return content.subarray(0, size);
  return kind === COMPRESSED ? decompress(content, size) : undefined;
}

/** The text of a message: a web page, RTF, or plain text. The plain text is "" if it has to come from another part of the message. */
export type MailBody = { kind: "page"; html: string } | { kind: "rtf"; rtf: Buffer } | { kind: "text"; text: string };

/** Control words at the start of RTF that contains a web page or plain text. */
const CONTAINS_OTHER = /\\from(?:html1|text)(?![a-z\d])/;
const MAX_START = 1_000;

/** Outlook nests groups a few deep; the parser's time grows with the square of the depth. */
const MAX_DEPTH = 200;
const [BACKSLASH, QUOTE, OPEN, CLOSE] = [0x5c, 0x27, 0x7b, 0x7d];
const isHex = (byte: number | undefined): boolean => /^[\da-f]$/i.test(String.fromCharCode(byte ?? 0));

/** Whether groups nest little and each escaped byte has two hexadecimal digits. The parser creates a warning for each other escape. */
function isSound(rtf: Buffer): boolean {
  for (let at = 0, depth = 0; at < rtf.length; at++) {
    const byte = rtf[at];
    if (byte === BACKSLASH) {
      at += 1;
      if (rtf[at] === QUOTE && !(isHex(rtf[at + 1]) && isHex(rtf[at + 2]))) return false;
    } else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE) depth -= 1;
    if (depth > MAX_DEPTH) return false;
  }
  return true;
}

const decode = (bytes: Buffer, encoding: string): string =>
  decodeBytes(bytes.toString("latin1"), codePageEncoding(Number(encoding.replace(/^cp/, ""))));

/** The body of a message. Damaged RTF becomes an empty text. */
export function readCompressedRtf(bytes: Buffer): MailBody {
  const rtf = openRtf(bytes);
  if (!rtf) return { kind: "text", text: "" };
  if (!CONTAINS_OTHER.test(rtf.toString("latin1", 0, MAX_START))) return { kind: "rtf", rtf };
  if (!isSound(rtf)) return { kind: "text", text: "" };
  try {
    const { mode, text } = deEncapsulateSync(rtf, { decode, warn: () => {} });
    return mode === "html" ? { kind: "page", html: String(text) } : { kind: "text", text: String(text) };
  } catch {
    return { kind: "text", text: "" };
  }
}
