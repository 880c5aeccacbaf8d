import { isUtf8 } from "node:buffer";
import { setImmediate as nextRound } from "node:timers/promises";
import secureJson from "secure-json-parse";
import { findExcess } from "#events/jsonLimits.ts";
import { ApiError } from "./errors.ts";

/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Only bodies with these words, plain or escaped, can name a prototype. Searching for them is far cheaper than the full check. */
const SUSPICIOUS = ["__proto__", "constructor", "\\u00"];

const canNamePrototypes = (bytes: Buffer): boolean => SUSPICIOUS.some((word) => bytes.includes(word));

/** Bodies of more bytes are parsed in steps, each in a round of the event loop of its own. */
const LARGE_BYTES = 4 * 1024 * 1024;

function requireParsable(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
  const excess = findExcess(bytes);
  if (excess) throw new ApiError("invalid_json", `The request body ${excess}.`);
}

function parse(text: string, refusesPrototypes: boolean): unknown {
  try {
    return refusesPrototypes
      ? secureJson.parse(text, undefined, { protoAction: "error", constructorAction: "error" })
      : JSON.parse(text);
  } catch (error) {
    const isForbidden = error instanceof SyntaxError && error.message.startsWith("Object contains forbidden prototype");
    const message = isForbidden
      ? "The request body must not have members named __proto__, nor constructor with a prototype."
      : "The request body is not valid JSON.";
    throw new ApiError("invalid_json", message, { cause: error });
  }
}

async function parseLarge(bytes: Buffer): Promise<unknown> {
  requireParsable(bytes);
  await nextRound();
  const refusesPrototypes = canNamePrototypes(bytes);
  await nextRound();
  const text = bytes.toString("utf8");
  await nextRound();
  return parse(text, refusesPrototypes);
}

/** Parses a request body, a large one as a promise. Throws 400 `invalid_json` for invalid JSON, too many or too deeply nested values, and prototype names. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length > LARGE_BYTES) return parseLarge(bytes);
  requireParsable(bytes);
  return parse(bytes.toString("utf8"), canNamePrototypes(bytes));
}

/** As `parseJsonBody`, but at once, and allows names such as `__proto__`. For bodies that are passed on; their properties must not be assigned. */
export function parseOpaqueJson(bytes: Buffer): unknown {
  requireParsable(bytes);
  return parse(bytes.toString("utf8"), false);
}
