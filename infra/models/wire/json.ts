import { z } from "zod";

/* Compatible servers may send anything, so answers are parsed leniently. */

/** Null if a value does not match the schema. */
export const nullIfInvalid = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);

/** Twice the largest context window, so no request has more. A wrong count must not use up a budget for good. */
const MAX_TOKENS = 20_000_000;
export const StrictTokenCount = z.int().nonnegative().max(MAX_TOKENS);

/** A token count; null if it is missing, negative or impossible. */
export const TokenCount = nullIfInvalid(StrictTokenCount);

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
