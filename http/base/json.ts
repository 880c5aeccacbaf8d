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

type Parse = (text: string, bytes: Buffer) => unknown;

const withoutPrototypes: Parse = (text, bytes) =>
  SUSPICIOUS.some((word) => bytes.includes(word))
    ? secureJson.parse(text, undefined, { protoAction: "error", constructorAction: "error" })
    : JSON.parse(text);

/** Bodies of more bytes are parsed in steps, each in a round of the event loop of its own. */
const LARGE_BYTES = 4 * 1024 * 1024;

function* parseInSteps(bytes: Buffer, how: Parse): Generator<undefined, unknown> {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
  const excess = findExcess(bytes);
  if (excess) throw new ApiError("invalid_json", `The request body ${excess}.`);
  yield;
  const text = bytes.toString("utf8");
  yield;
  try {
    return how(text, bytes);
  } catch (error) {
    throw new ApiError("invalid_json", "The request body is not valid JSON.", { cause: error });
  }
}

function parse(bytes: Buffer, how: Parse): unknown {
  const steps = parseInSteps(bytes, how);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

async function parseInRounds(bytes: Buffer, how: Parse): Promise<unknown> {
  const steps = parseInSteps(bytes, how);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextRound();
  }
}

/** Parses a request body, a large one as a promise. Throws 400 `invalid_json` for invalid JSON, too many or too deeply nested values, and prototype names. */
export const parseJsonBody = (bytes: Buffer): unknown =>
  bytes.length > LARGE_BYTES ? parseInRounds(bytes, withoutPrototypes) : parse(bytes, withoutPrototypes);

/** As `parseJsonBody`, but allows names such as `__proto__`. For bodies that are passed on; their properties must not be assigned. */
export const parseOpaqueJson = (bytes: Buffer): unknown => parse(bytes, (text) => JSON.parse(text));
