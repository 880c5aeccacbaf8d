import { analyse } from "chardet";
import { detect } from "jschardet";
import { encodingOfMark } from "../guard/encoding.ts";

const META = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})/i;
/** What a detector looks at; both are slow. */
const SAMPLE = 64_000;

const decode = (bytes: Uint8Array, encoding: string, fatal = false): string | null => {
  try {
    return new TextDecoder(encoding, { fatal }).decode(bytes);
  } catch {
    return null;
  }
};

/** Names that Node lacks, and of the two encodings of Hebrew the one that contains the other. */
const synonyms: Record<string, string> = { CP932: "shift_jis", CP949: "euc-kr", "ISO-8859-8": "windows-1255" };

/** The WHATWG name, so that two detectors' names for one encoding are equal; null for one that Node cannot decode. */
const known = (name: string | null | undefined): string | null => {
  try {
    return name ? new TextDecoder(synonyms[name] ?? name).encoding : null;
  } catch {
    return null;
  }
};

/** UTF-16 without a mark: text in it has a NUL in most of its even or odd places. */
const wideOrder = (bytes: Uint8Array): string | null => {
  const sample = bytes.subarray(0, 2_000);
  const zeros = [0, 1].map((side) => sample.filter((byte, at) => byte === 0 && at % 2 === side).length);
  const [even = 0, odd = 0] = zeros;
  const most = sample.length * 0.3;
  if (odd > most && even < most / 10) return "utf-16le";
  return even > most && odd < most / 10 ? "utf-16be" : null;
};

/**
 * Each detector alone is often wrong: one takes short Japanese for Western, the other Western for Macintosh Cyrillic.
 * So an encoding counts where the surer guesses of one contain what the other says and the bytes are valid in it.
 */
const agreed = (bytes: Uint8Array): string | null => {
  const sample = Buffer.from(bytes.subarray(0, SAMPLE));
  const guess = known(detect(sample).encoding);
  if (!guess) return null;
  const others = analyse(sample)
    .slice(0, 3)
    .map(({ name }) => known(name));
  return others.includes(guess) && decode(bytes, guess, true) !== null ? guess : null;
};

/**
 * The text of a file of any encoding, without its byte order mark. By mark, else as strict UTF-8, else as an HTML file
 * says, else by what two detectors agree on, else as windows-1252, which decodes everything.
 */
export const decodeText = (bytes: Uint8Array): string => {
  const marked = encodingOfMark(bytes) ?? wideOrder(bytes);
  if (marked) return decode(bytes, marked) ?? "";
  const strict = decode(bytes, "utf-8", true);
  if (strict !== null) return strict;
  const declared = META.exec(Buffer.from(bytes.subarray(0, 4_096)).toString("latin1"))?.[1];
  const encoding = known(declared) ?? agreed(bytes) ?? "windows-1252";
  return decode(bytes, encoding) ?? "";
};
