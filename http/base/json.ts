import { isUtf8 } from "node:buffer";
import secureJson from "secure-json-parse";
import { isObject } from "#events/json.ts";
import { createJsonScan } from "#events/jsonLimits.ts";
import { parseLargeJson } from "#events/readLargeJson.ts";
import { createPause, type Pause } from "#events/slices.ts";
import { ApiError } from "./errors.ts";
import { parseKeepingDigits } from "./exactNumbers.ts";

/** Only bodies that contain one of these, plain or escaped, can name a prototype. Searching for them is far cheaper than the full check. */
const SUSPICIOUS = ["__proto__", "constructor", "\\u00"];

const canNamePrototypes = (bytes: Buffer): boolean => SUSPICIOUS.some((word) => bytes.includes(word));

/** Bodies with more bytes or tokens are parsed in steps, so that other work runs in between. */
const LARGE_BYTES = 4 * 1024 * 1024;
const MANY_TOKENS = 60_000;
/** Bytes scanned between two pauses. */
const SCAN_AT_ONCE = 1024 * 1024;

const notUtf8 = () => new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
const exceeds = (excess: string) => new ApiError("invalid_json", `The request body ${excess}.`);

/** Returns the number of tokens. Throws 400 `invalid_json` for bytes that must not reach JSON.parse. */
function requireParsable(bytes: Buffer): number {
  if (!isUtf8(bytes)) throw notUtf8();
  const scan = createJsonScan();
  const excess = scan.scan(bytes);
  if (excess) throw exceeds(excess);
  return scan.tokens();
}

const REFUSED = { protoAction: "error", constructorAction: "error" } as const;
const namesPrototype = (members: object): boolean =>
  Object.hasOwn(members, "__proto__") ||
  (Object.hasOwn(members, "constructor") &&
    isObject(members.constructor) &&
    Object.hasOwn(members.constructor, "prototype"));

const FORBIDDEN = "The request body must not have members named __proto__, nor constructor with a prototype.";
const forbidden = (cause?: unknown): ApiError => new ApiError("invalid_json", FORBIDDEN, { cause });

function unparsable(cause: unknown): ApiError {
  const isForbidden = cause instanceof SyntaxError && cause.message.startsWith("Object contains forbidden prototype");
  return isForbidden
    ? forbidden(cause)
    : new ApiError("invalid_json", "The request body is not valid JSON.", { cause });
}

type Parser = (text: string) => unknown;
const parseSafely: Parser = (text) => secureJson.parse(text, undefined, REFUSED);

function parseWith(parser: Parser, bytes: Buffer): unknown {
  try {
    return parser(bytes.toString("utf8"));
  } catch (error) {
    throw unparsable(error);
  }
}

/** Objects checked for prototype names between two pauses. */
const SEARCHED_AT_ONCE = 1_000;

/** Like `secureJson.scan`, but with pauses. */
async function refusePrototypes(value: unknown, pause: Pause): Promise<void> {
  const left: object[] = [];
  const add = (member: unknown) => void (typeof member === "object" && member !== null && left.push(member));
  add(value);
  for (let n = 0; left.length > 0; n++) {
    if (n % SEARCHED_AT_ONCE === 0) await pause();
    const members = left.pop()!;
    if (namesPrototype(members)) throw forbidden();
    for (const member of Object.values(members)) add(member);
  }
}

async function parseLarge(bytes: Buffer): Promise<unknown> {
  const pause = createPause();
  if (!isUtf8(bytes)) throw notUtf8();
  const scan = createJsonScan();
  for (let at = 0; at < bytes.length; at += SCAN_AT_ONCE) {
    await pause();
    const excess = scan.scan(bytes.subarray(at, at + SCAN_AT_ONCE));
    if (excess) throw exceeds(excess);
  }
  try {
    const value = await parseLargeJson(bytes);
    await refusePrototypes(value, pause);
    return value;
  } catch (error) {
    throw error instanceof SyntaxError ? unparsable(error) : error;
  }
}

/**
 * Parses a request body; returns a promise for one that is large or has many values. Throws 400 `invalid_json` for invalid JSON,
 * too many or too deeply nested values, and prototype names.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length > LARGE_BYTES) return parseLarge(bytes);
  if (requireParsable(bytes) > MANY_TOKENS) return parseLarge(bytes);
  return parseWith(canNamePrototypes(bytes) ? parseSafely : JSON.parse, bytes);
}

/**
 * Like `parseJsonBody`, but synchronous, and allows names such as `__proto__`. For bodies that are passed on: do not assign their
 * properties.
 */
export function parseOpaqueJson(bytes: Buffer): unknown {
  requireParsable(bytes);
  return parseWith(JSON.parse, bytes);
}

/**
 * Like `parseOpaqueJson`, but numbers that would be rounded become strings of their digits. For senders that cannot be asked to
 * send numbers as strings.
 */
export function parseDelivery(bytes: Buffer): unknown {
  requireParsable(bytes);
  return parseWith(parseKeepingDigits, bytes);
}
