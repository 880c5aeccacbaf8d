/* Limits of JSON from outside, checked before JSON.parse reads it in one piece. */

const MAX_DEPTH = 64;
/**
 * Tokens are brackets, commas, colons and strings. Without the limit, JSON.parse would block the process for 4 s on a 64 MiB body
 * of brackets. This many distinct strings take it 30 ms.
 */
const MAX_TOKENS = 250_000;
/** A colon counts as this many tokens: a member with a new name costs JSON.parse 2 µs, other tokens at most a fifth of that. */
const COLON_TOKENS = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Bytes of a string that are checked one by one before `indexOf` is called. Most strings are shorter. */
const NEAR = 32;

/**
 * Index of the quote that ends the string which contains `from`. If it does not end: the length of the bytes, plus one if they end
 * within an escape.
 */
function endOfString(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + NEAR, bytes.length);
  for (let at = from; at < near && bytes[at] !== BACKSLASH; at++) if (bytes[at] === QUOTE) return at;
  const first = bytes.indexOf(QUOTE, from);
  // most strings have no escapes, so their first quote ends them
  if (bytes.at(first < 0 ? -1 : first - 1) !== BACKSLASH) return first < 0 ? bytes.length : first;
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

/** Scans JSON that arrives in pieces, before it is parsed. Linear in its length. */
export function createJsonScan(maxTokens = MAX_TOKENS) {
  let depth = 0;
  /** The nesting depth at the beginning of the line. */
  let lineDepth = 0;
  let tokens = 0;
  let inString = false;
  /** Bytes at the beginning of the next piece that belong to an escape at the end of this one. */
  let skipped = 0;
  return {
    /** Returns which limit the bytes scanned so far exceed, or undefined. */
    scan(bytes: Uint8Array): string | undefined {
      const endString = (from: number): number => {
        const end = endOfString(bytes, from);
        inString = end >= bytes.length;
        skipped = Math.max(0, end - bytes.length);
        return end;
      };
      if (bytes.length === 0) return undefined;
      const start = inString ? endString(skipped) + 1 : 0;
      for (let at = start; at < bytes.length; at++) {
        const byte = bytes[at]!;
        const kind = KIND[byte];
        if (kind === OTHER) continue;
        tokens += byte === COLON ? COLON_TOKENS : 1;
        if (tokens > maxTokens) break;
        if (kind === STRING) at = endString(at + 1);
        else if (kind === OPENING && ++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
        else if (kind === CLOSING) depth--;
      }
      return tokens > maxTokens ? `has more than ${maxTokens} values` : undefined;
    },
    /** The number of tokens scanned so far. */
    tokens: (): number => tokens,
    /** Ends a line of a multi-line JSON, and any string open in it. Counts as a token. A line that readers may skip closes no brackets. */
    endLine(mayBeSkipped: boolean): void {
      inString = false;
      skipped = 0;
      tokens++;
      lineDepth = depth = mayBeSkipped ? Math.max(depth, lineDepth) : depth;
    },
    reset(): void {
      depth = lineDepth = tokens = skipped = 0;
      inString = false;
    },
  };
}

/** Checks JSON before it is parsed. Returns which limit it exceeds, or undefined. */
export const findExcess = (bytes: Uint8Array, maxTokens?: number): string | undefined =>
  createJsonScan(maxTokens).scan(bytes);
