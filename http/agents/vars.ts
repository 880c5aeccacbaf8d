import { ApiError } from "../base/errors.ts";
import { requireExact } from "../base/exactNumbers.ts";

/** Keys of a thread's vars after the merge (spec: Limits). */
const MAX_VARS = 32;

function readObject(value: unknown, param: string): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  requireExact(value, param, "invalid_vars");
  if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ApiError("invalid_vars", `${param} must be an object.`, { param });
}

/** The vars of a request; `vars` wins over its alias `metadata`. Throws `invalid_vars`. */
export const readVars = ({ vars, metadata }: { vars?: unknown; metadata?: unknown }): Record<string, unknown> =>
  mergeVars(readObject(metadata, "metadata"), readObject(vars, "vars"));

/** Throws `invalid_vars` when the result has too many keys. */
export function mergeVars(vars: Record<string, unknown>, changes: Record<string, unknown>): Record<string, unknown> {
  // a map, because assigning `__proto__` to an object would set its prototype
  const merged = new Map([...Object.entries(vars), ...Object.entries(changes)]);
  if (merged.size > MAX_VARS)
    throw new ApiError(
      "invalid_vars",
      `vars has ${merged.size} keys after the merge; at most ${MAX_VARS} are allowed.`,
      {
        param: "vars",
      },
    );
  return Object.fromEntries(merged);
}
