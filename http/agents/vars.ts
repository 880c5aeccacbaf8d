import { ApiError } from "../errors.ts";

/** Keys of a thread's vars, after the merge (spec: Limits). */
const MOST = 32;

function objectOf(value: unknown, param: string): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ApiError("invalid_vars", `${param} must be an object.`, { param });
}

/** What a request says of its vars; `vars` wins over its alias `metadata`. Throws `invalid_vars`. */
export const varsOf = ({ vars, metadata }: { vars?: unknown; metadata?: unknown }): Record<string, unknown> =>
  merged(objectOf(metadata, "metadata"), objectOf(vars, "vars"));

/** Vars with others over them. Throws `invalid_vars` where they are too many. */
export function merged(before: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const all = new Map([...Object.entries(before), ...Object.entries(over)]);
  if (all.size > MOST)
    throw new ApiError("invalid_vars", `vars has ${all.size} keys after the merge; at most ${MOST} are kept.`, {
      param: "vars",
    });
  return Object.fromEntries(all);
}
