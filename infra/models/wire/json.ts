import { z } from "zod";

/* Compatible servers may send anything, so answers are parsed leniently. */

/** Null if a value does not match the schema. */
export const nullIfInvalid = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);

/** Twice the largest context window, so no request has more. A wrong count must not use up a budget for good. */
const MAX_TOKENS = 20_000_000;
export const StrictTokenCount = z.int().nonnegative().max(MAX_TOKENS);

/** A token count; null if it is missing, negative or impossible. */
export const TokenCount = nullIfInvalid(StrictTokenCount);

/* For what arrives with every word: the value if it has the type, otherwise undefined. */

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const asObject = (value: unknown): Record<string, unknown> | undefined => (isObject(value) ? value : undefined);
export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
/** Of a whole number that is not negative. */
export const asCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
export function asTokenCount(value: unknown): number | undefined {
  const count = asCount(value);
  return count !== undefined && count <= MAX_TOKENS ? count : undefined;
}

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
  return asObject(parseJson(text));
}
