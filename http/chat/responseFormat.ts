import safeRegex from "safe-regex2";
import { ApiError } from "../errors.ts";

const MAX_DEPTH = 32;
const MAX_NODES = 5_000;
const MAX_PATTERN = 1_000;

const invalid = (message: string) =>
  new ApiError("invalid_response_format", `response_format.json_schema.schema ${message}`, {
    param: "response_format.json_schema.schema",
  });

function checkPattern(pattern: unknown): void {
  if (typeof pattern !== "string") return;
  if (pattern.length > MAX_PATTERN || !safeRegex(pattern))
    throw invalid("holds a pattern that is too costly or no regular expression.");
}

/** Bounds a JSON schema without compiling it. Throws 400 `invalid_response_format`. */
export function checkSchema(schema: Record<string, unknown>): void {
  let nodes = 0;
  const walk = (value: unknown, depth: number): void => {
    if (++nodes > MAX_NODES) throw invalid(`has more than ${MAX_NODES} values.`);
    if (typeof value !== "object" || value === null) return;
    if (depth > MAX_DEPTH) throw invalid(`nests deeper than ${MAX_DEPTH} levels.`);
    checkPattern((value as { pattern?: unknown }).pattern);
    for (const child of Object.values(value)) walk(child, depth + 1);
  };
  walk(schema, 1);
}
