import { isUtf8 } from "node:buffer";
import secureJson from "secure-json-parse";
import { ApiError } from "./errors.ts";

const MAX_DEPTH = 64;
/** Brackets, commas, colons and strings; a 64 MiB body of brackets would block the process for 4 s in JSON.parse. */
const MAX_TOKENS = 500_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The index of the quote that ends the string which begins at `from`; the length of the bytes when there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  const first = bytes.indexOf(QUOTE, from);
  if (first < 0) return bytes.length;
  // most strings hold no escape, so the first quote is theirs
  if (bytes[first - 1] !== BACKSLASH) return first;
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

const NOTHING = 0;
const STRING = 1;
const OPENING = 2;
const CLOSING = 3;
const BETWEEN = 4;

/** What a byte begins outside strings; a table keeps the worst 64 MiB at tens of milliseconds. */
const KIND = new Uint8Array(256);
KIND[QUOTE] = STRING;
for (const byte of Buffer.from("[{")) KIND[byte] = OPENING;
for (const byte of Buffer.from("]}")) KIND[byte] = CLOSING;
for (const byte of Buffer.from(",:")) KIND[byte] = BETWEEN;

/** Looks over JSON once before it is parsed; says what is too much of it, or undefined. Linear in its length. */
export function excessOf(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let tokens = 0;
  for (let at = 0; at < bytes.length; at++) {
    const kind = KIND[bytes[at]!];
    if (kind === NOTHING) continue;
    if (++tokens > MAX_TOKENS) return `has more than ${MAX_TOKENS} values`;
    if (kind === STRING) at = endOfString(bytes, at + 1);
    else if (kind === OPENING && ++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    else if (kind === CLOSING) depth--;
  }
  return undefined;
}

/** A body without these words, spelled out or escaped, cannot name a prototype; looking for them is far cheaper than the check itself. */
const SUSPECT = ["__proto__", "constructor", "\\u00"];

type Parse = (text: string, bytes: Buffer) => unknown;

const withoutPrototypes: Parse = (text, bytes) =>
  SUSPECT.some((word) => bytes.includes(word))
    ? secureJson.parse(text, undefined, { protoAction: "error", constructorAction: "error" })
    : JSON.parse(text);

function parse(bytes: Buffer, how: Parse): unknown {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
  const excess = excessOf(bytes);
  if (excess) throw new ApiError("invalid_json", `The request body ${excess}.`);
  try {
    return how(bytes.toString("utf8"), bytes);
  } catch (error) {
    throw new ApiError("invalid_json", "The request body is not valid JSON.", { cause: error });
  }
}

/** Parses a request body. Throws a 400 for what is no JSON, too deep or too much, or would reach into prototypes. */
export const parseJson = (bytes: Buffer): unknown => parse(bytes, withoutPrototypes);

/** The same for a body that is passed on as it is: names such as `__proto__` are properties of it like others, and must not be assigned. */
export const parseData = (bytes: Buffer): unknown => parse(bytes, (text) => JSON.parse(text));
