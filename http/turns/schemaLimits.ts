import safeRegex from "safe-regex2";

const MAX_DEPTH = 32;
const MAX_NODES = 5_000;
const MAX_PATTERN_LENGTH = 1_000;
/** Of all patterns of a request together: each character takes time to check, and a body has room for thousands of patterns. */
const MAX_PATTERN_CHARACTERS = 32_768;

/** How many characters the patterns of a request may still have. */
export interface PatternBudget {
  left: number;
}
export const openPatternBudget = (): PatternBudget => ({ left: MAX_PATTERN_CHARACTERS });

/** What is wrong with a pattern, or undefined. */
function findPatternFault(pattern: unknown, budget: PatternBudget): string | undefined {
  if (typeof pattern !== "string") return undefined;
  budget.left -= pattern.length;
  if (budget.left < 0)
    return `has too many patterns: those of a request may have ${MAX_PATTERN_CHARACTERS} characters together.`;
  return pattern.length <= MAX_PATTERN_LENGTH && safeRegex(pattern)
    ? undefined
    : "has a pattern that is not a regular expression, or too expensive to match.";
}

/**
 * Checks the size and cost of a JSON schema without compiling it. All schemas of a request share one `patterns`. Returns what is
 * wrong, or undefined.
 */
export function findSchemaFault(schema: Record<string, unknown>, patterns: PatternBudget): string | undefined {
  let nodes = 0;
  const walk = (value: unknown, depth: number): string | undefined => {
    if (++nodes > MAX_NODES) return `has more than ${MAX_NODES} values.`;
    if (typeof value !== "object" || value === null) return undefined;
    if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels.`;
    const wrong = findPatternFault((value as { pattern?: unknown }).pattern, patterns);
    if (wrong) return wrong;
    for (const child of Object.values(value)) {
      const fault = walk(child, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  };
  return walk(schema, 1);
}
