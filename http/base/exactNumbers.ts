import type { z } from "zod";
import type { ErrorCode } from "#events/errorCodes.ts";
import { ApiError } from "./errors.ts";
import { formatPath } from "./validate.ts";

/*
 * JSON.parse reads 9007199254740993 as …992, and 1e400 as Infinity, which JSON.stringify writes as null. Values for runs, tools
 * and documents must arrive exactly as sent or be refused: an id that is off by one names another order.
 */

/** From here on JSON.stringify writes exponents. Such a number is a measurement, and rounded already. */
const EXPONENTS_FROM = 1e21;

/** Whether a parsed number may differ from the number that was sent. */
const isInexact = (number: number): boolean =>
  !Number.isFinite(number) ||
  (Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < EXPONENTS_FROM);

const REASON = `must be at most ${Number.MAX_SAFE_INTEGER} (2^53 - 1), to arrive as it was sent; send a larger number as text`;

/** The path of the first number that may differ from what was sent; undefined if there is none. */
function findInexact(value: unknown): PropertyKey[] | undefined {
  if (typeof value === "number") return isInexact(value) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const path = findInexact(member);
    if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}

/** Throws a 400 that names the first number in `value` that cannot be stored exactly. `param` is the request field of `value`. */
export function requireExact(value: unknown, param: string, code: ErrorCode | null): void {
  const path = findInexact(value);
  if (!path) return;
  const where = formatPath([param, ...path]);
  throw new ApiError(code, `${where}: ${REASON}.`, { param: where });
}

/** Extends a schema: numbers that cannot be stored exactly are refused. */
export const refuseInexact = <T extends z.ZodType>(schema: T): T =>
  schema.superRefine((value, context) => {
    const path = findInexact(value);
    if (path) context.addIssue({ code: "custom", path, message: REASON });
  });

const MAY_BE_INEXACT = /\d{16}|e\+?\d{3}/i;
/**
 * Matches strings, in order to skip them, and numbers that may be inexact: those with 16 digits or a three-digit exponent. A string
 * that does not end matches up to the end of the text: else each of its escaped quotes would be tried as the beginning of another.
 */
const STRING_OR_LARGE = new RegExp(
  String.raw`"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|(?<=^|[[,:\s])-?(?:[1-9]\d{15,}(?:\.\d+)?(?:[eE][+-]?\d+)?|\d+(?:\.\d+)?[eE]\+?\d{3,})`,
  "gs",
);

/** Like JSON.parse, but numbers that would be changed become strings of their digits. A reviver would take ten times as long. */
export function parseKeepingDigits(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text);
  const quoted = text.replace(STRING_OR_LARGE, (found) =>
    found.startsWith('"') || !isInexact(Number(found)) ? found : `"${found}"`,
  );
  return JSON.parse(quoted);
}
