/**
 * The first bytes of a file in some encodings, in hexadecimal: a byte order mark, or the start of XML in UTF-16 without one (appendix F of
 * the XML standard).
 */
const STARTS: [RegExp, string][] = [
  [/^efbbbf/, "utf-8"],
  [/^(?:fffe|3c00[2-7].00)/, "utf-16le"],
  [/^(?:feff|003c00[2-7])/, "utf-16be"],
];

/** "utf-8", "utf-16le" or "utf-16be" if the first bytes show it, else null. */
export const encodingFromStart = (bytes: Uint8Array): string | null => {
  const start = Buffer.from(bytes.subarray(0, 4)).toString("hex");
  return STARTS.find(([pattern]) => pattern.test(start))?.[1] ?? null;
};
