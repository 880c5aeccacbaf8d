import safeRegex from "safe-regex2";

const MAX_DEPTH = 32;
const MAX_NODES = 5_000;
const MAX_PATTERN_LENGTH = 1_000;

const isCheapPattern = (pattern: unknown): boolean =>
  typeof pattern !== "string" || (pattern.length <= MAX_PATTERN_LENGTH && safeRegex(pattern));

/** Checks the size and cost of a JSON schema without compiling it. Returns what is wrong, or undefined. */
export function findSchemaFault(schema: Record<string, unknown>): string | undefined {
  let nodes = 0;
  const walk = (value: unknown, depth: number): string | undefined => {
    if (++nodes > MAX_NODES) return `has more than ${MAX_NODES} values.`;
    if (typeof value !== "object" || value === null) return undefined;
    if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels.`;
    if (!isCheapPattern((value as { pattern?: unknown }).pattern))
      return "has a pattern that is not a regular expression, or too expensive to match.";
    for (const child of Object.values(value)) {
      const fault = walk(child, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  };
  return walk(schema, 1);
}
