import { isUtf8 } from "node:buffer";
import secureJson from "secure-json-parse";
import { ApiError } from "./errors.ts";

const MAX_DEPTH = 64;
/** Brackets, commas, colons and strings; a 64 MiB body of brackets would block the process for 4 s in JSON.parse. */
const MAX_TOKENS = 500_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
export function findExcess(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let tokens = 0;
  for (let at = 0; at < bytes.length; at++) {
    const kind = KIND[bytes[at]!];
    if (kind === OTHER) continue;
    if (++tokens > MAX_TOKENS) return `has more than ${MAX_TOKENS} values`;
    if (kind === STRING) at = endOfString(bytes, at + 1);
    else if (kind === OPENING && ++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    else if (kind === CLOSING) depth--;
  }
  return undefined;
}

/** Only bodies with these words, plain or escaped, can name a prototype. Searching for them is far cheaper than the full check. */
const SUSPICIOUS = ["__proto__", "constructor", "\\u00"];

type Parse = (text: string, bytes: Buffer) => unknown;

const withoutPrototypes: Parse = (text, bytes) =>
  SUSPICIOUS.some((word) => bytes.includes(word))
    ? secureJson.parse(text, undefined, { protoAction: "error", constructorAction: "error" })
    : JSON.parse(text);

function parse(bytes: Buffer, how: Parse): unknown {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
  const excess = findExcess(bytes);
  if (excess) throw new ApiError("invalid_json", `The request body ${excess}.`);
  try {
    return how(bytes.toString("utf8"), bytes);
  } catch (error) {
    throw new ApiError("invalid_json", "The request body is not valid JSON.", { cause: error });
  }
}

/** Parses a request body. Throws 400 `invalid_json` for invalid JSON, too many or too deeply nested values, and prototype names. */
export const parseJsonBody = (bytes: Buffer): unknown => parse(bytes, withoutPrototypes);

/** As `parseJsonBody`, but allows names such as `__proto__`. For bodies that are passed on; their properties must not be assigned. */
export const parseOpaqueJson = (bytes: Buffer): unknown => parse(bytes, (text) => JSON.parse(text));
