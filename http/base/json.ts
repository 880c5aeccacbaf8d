import { isUtf8 } from "node:buffer";
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

function parse(bytes: Buffer, how: Parse): unknown {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The request body must be JSON in UTF-8.");
  const excess = findExcess(bytes);
  if (excess) throw new ApiError("invalid_json", `The request body ${excess}.`);
  try {
    return how(bytes.toString("utf8"), bytes);
  } catch (error) {
    const isForbidden = error instanceof SyntaxError && error.message.startsWith("Object contains forbidden prototype");
    const message = isForbidden
      ? "The request body must not have members named __proto__, nor constructor with a prototype."
      : "The request body is not valid JSON.";
    throw new ApiError("invalid_json", message, { cause: error });
  }
}

/** Parses a request body. Throws 400 `invalid_json` for invalid JSON, too many or too deeply nested values, and prototype names. */
export const parseJsonBody = (bytes: Buffer): unknown => parse(bytes, withoutPrototypes);

/** As `parseJsonBody`, but allows names such as `__proto__`. For bodies that are passed on; their properties must not be assigned. */
export const parseOpaqueJson = (bytes: Buffer): unknown => parse(bytes, (text) => JSON.parse(text));
