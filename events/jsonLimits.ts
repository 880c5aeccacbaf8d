/* Limits of JSON that somebody outside wrote, which JSON.parse would read in one piece. */

const MAX_DEPTH = 64;
/** Brackets, commas, colons and strings; a 64 MiB body of brackets would block the process for 4 s in JSON.parse, so many strings that differ for 30 ms. */
const MAX_TOKENS = 250_000;
/** Tokens that a colon counts for: an object whose name no other has costs JSON.parse a microsecond, other tokens at most a fifth of it. */
const COLON_TOKENS = 6;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The index of the quote that ends the string starting at `from`; the length of the bytes if there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  const first = bytes.indexOf(QUOTE, from);
  if (first < 0) return bytes.length;
  // most strings have no escapes, so their first quote ends them
  if (bytes[first - 1] !== BACKSLASH) return first;
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

const OTHER = 0;
const STRING = 1;
const OPENING = 2;
const CLOSING = 3;
const SEPARATOR = 4;

/** The kind of token that a byte starts outside strings. The table scans the worst 64 MiB in tens of milliseconds. */
const KIND = new Uint8Array(256);
KIND[QUOTE] = STRING;
for (const byte of Buffer.from("[{")) KIND[byte] = OPENING;
for (const byte of Buffer.from("]}")) KIND[byte] = CLOSING;
for (const byte of Buffer.from(",:")) KIND[byte] = SEPARATOR;

/** Scans JSON before it is parsed: what exceeds a limit, or undefined. Linear in its length. */
export function findExcess(bytes: Uint8Array, maxTokens = MAX_TOKENS): string | undefined {
  let depth = 0;
  let tokens = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    const kind = KIND[byte];
    if (kind === OTHER) continue;
    tokens += byte === COLON ? COLON_TOKENS : 1;
    if (tokens > maxTokens) return `has more than ${maxTokens} values`;
    if (kind === STRING) at = endOfString(bytes, at + 1);
    else if (kind === OPENING && ++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    else if (kind === CLOSING) depth--;
  }
  return undefined;
}
