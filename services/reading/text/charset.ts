import { analyse } from "chardet";
import { detect } from "jschardet";
import { encodingFromMark } from "../guard/encoding.ts";

const META = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})/i;
/** Bytes that the detectors look at; both are slow. */
const SAMPLE = 64_000;

const decode = (bytes: Uint8Array, encoding: string, fatal = false): string | null => {
  try {
    return new TextDecoder(encoding, { fatal }).decode(bytes);
  } catch {
    return null;
  }
};

/** Names that Node lacks, and the wider of the two Hebrew encodings. */
const SYNONYMS: Record<string, string> = { CP932: "shift_jis", CP949: "euc-kr", "ISO-8859-8": "windows-1255" };

/** The WHATWG name of an encoding, so that the detectors' names can be compared; null if Node cannot decode it. */
const whatwgName = (name: string | null | undefined): string | null => {
  try {
    return name ? new TextDecoder(SYNONYMS[name] ?? name).encoding : null;
  } catch {
    return null;
  }
};

/** The byte order of UTF-16 without a mark: most even or most odd bytes are NUL. */
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

/** Right characters beyond ASCII for each wrong one in UTF-8. In texts of other encodings more are wrong than right. */
const MIN_RIGHT = 3;
const REPLACEMENT = 0xfffd;

/** UTF-8 with some wrong bytes, as of a log or of texts that were joined; null if it is another encoding. */
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

/**
 * Decodes a file of any encoding, without its byte order mark: by the mark, else as UTF-8, which may have some wrong bytes, else as an HTML file declares, else
 * as two detectors agree, else as windows-1252, which decodes any bytes.
 */
export const decodeText = (bytes: Uint8Array): string => {
  const marked = encodingFromMark(bytes) ?? utf16Order(bytes);
  if (marked) return decode(bytes, marked) ?? "";
  const strict = decode(bytes, "utf-8", true);
  if (strict !== null) return strict;
  const damaged = damagedUtf8(bytes);
  if (damaged !== null) return damaged;
  const declared = whatwgName(META.exec(Buffer.from(bytes.subarray(0, 4_096)).toString("latin1"))?.[1]);
  const encoding = (declared === "utf-8" ? null : declared) ?? agreedEncoding(bytes) ?? "windows-1252";
  return decode(bytes, encoding) ?? "";
};
