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

/** Looks over JSON once before it is parsed; says what is too much of it, or undefined. Linear in its length. */
export function excessOf(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let tokens = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at + 1);
        tokens++;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
        tokens++;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        tokens++;
        break;
      case 0x2c:
      case 0x3a:
        tokens++;
        break;
      default:
        break;
    }
    if (tokens > MAX_TOKENS) return `has more than ${MAX_TOKENS} values`;
  }
  return undefined;
}

/** Parses a request body. Throws a 400 for what is no JSON, too deep or too much, or would reach into prototypes. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
  const excess = excessOf(bytes);
  if (excess) throw new ApiError("invalid_json", `The request body ${excess}.`);
  try {
    return secureJson.parse(bytes.toString("utf8"), undefined, { protoAction: "error", constructorAction: "error" });
  } catch (error) {
    throw new ApiError("invalid_json", "The request body is not valid JSON.", { cause: error });
  }
}
