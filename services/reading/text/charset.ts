import { analyse } from "chardet";
import { detect } from "jschardet";
import { encodingFromStart } from "#events/encodingFromStart.ts";
import { encodingFromDeclaration } from "../guard/encoding.ts";

const META = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})/i;
/** Maximum bytes that the detectors examine, because both are slow. */
const SAMPLE = 64_000;

const decode = (bytes: Uint8Array, encoding: string, fatal = false): string | null => {
  try {
    return new TextDecoder(encoding, { fatal }).decode(bytes);
  } catch {
    return null;
  }
};

/** Names of the detectors that Node does not know. Hebrew is decoded as windows-1255, which has more characters than ISO-8859-8. */
const SYNONYMS: Record<string, string> = { CP932: "shift_jis", CP949: "euc-kr", "ISO-8859-8": "windows-1255" };

/** The WHATWG name of an encoding, so that the detectors' names can be compared; null if Node cannot decode it. */
const whatwgName = (name: string | null | undefined): string | null => {
  try {
    return name ? new TextDecoder(SYNONYMS[name] ?? name).encoding : null;
  } catch {
    return null;
  }
};

/** Recognizes UTF-16 without a byte order mark: many bytes at even or at odd offsets are NUL, and few at the others. */
const utf16Order = (bytes: Uint8Array): string | null => {
  const sample = bytes.subarray(0, 2_000);
  const zeros = [0, 1].map((side) => sample.filter((byte, at) => byte === 0 && at % 2 === side).length);
  const [even = 0, odd = 0] = zeros;
  const many = sample.length * 0.3;
  if (odd > many && even < many / 10) return "utf-16le";
  return even > many && odd < many / 10 ? "utf-16be" : null;
};

/**
 * The encoding that two detectors agree on and the bytes are valid in. Each detector alone is often wrong: one takes short Japanese
 * for Western, the other Western for Macintosh Cyrillic.
 */
const agreedEncoding = (bytes: Uint8Array): string | null => {
  const sample = Buffer.from(bytes.subarray(0, SAMPLE));
  const guess = whatwgName(detect(sample).encoding);
  if (!guess) return null;
  const others = analyse(sample)
    .slice(0, 3)
    .map(({ name }) => whatwgName(name));
  return others.includes(guess) && decode(bytes, guess, true) !== null ? guess : null;
};

/**
 * Minimum valid characters beyond ASCII per invalid sequence in damaged UTF-8. Text of another encoding that is decoded as UTF-8 has more
 * invalid sequences than valid characters.
 */
const MIN_RIGHT = 3;
const REPLACEMENT = 0xfffd;

/** Decodes UTF-8 with some invalid bytes, such as a log or joined texts; null if the encoding is another one. */
const damagedUtf8 = (bytes: Uint8Array): string | null => {
  const text = decode(bytes, "utf-8") ?? "";
  let [right, wrong] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === REPLACEMENT) wrong++;
    else if (code > 0x7f) right++;
  }
  return right >= wrong * MIN_RIGHT ? text : null;
};

/** Bytes that switch to Japanese characters in ISO-2022-JP, of which each byte alone is valid UTF-8. */
const SWITCHES_TO_JAPANESE = ["\x1b$B", "\x1b$@"];

const japaneseText = (bytes: Uint8Array): string | null => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return SWITCHES_TO_JAPANESE.some((switching) => buffer.includes(switching))
    ? decode(bytes, "iso-2022-jp", true)
    : null;
};

/**
 * Decodes a file of any encoding, without its byte order mark. The encoding is the first of these that applies: the one that its first
 * bytes show, ISO-2022-JP, UTF-8, even with some invalid bytes, the one that an HTML or XHTML file declares, the one that both detectors
 * find, and windows-1252, which decodes any bytes.
 */
export const decodeText = (bytes: Uint8Array): string => {
  const marked = encodingFromStart(bytes) ?? utf16Order(bytes);
  if (marked) return decode(bytes, marked) ?? "";
  const strict = japaneseText(bytes) ?? decode(bytes, "utf-8", true);
  if (strict !== null) return strict;
  const damaged = damagedUtf8(bytes);
  if (damaged !== null) return damaged;
  const meta = META.exec(Buffer.from(bytes.subarray(0, 4_096)).toString("latin1"))?.[1];
  const declared = whatwgName(meta ?? encodingFromDeclaration(bytes));
  const encoding = (declared === "utf-8" ? null : declared) ?? agreedEncoding(bytes) ?? "windows-1252";
  return decode(bytes, encoding) ?? "";
};
