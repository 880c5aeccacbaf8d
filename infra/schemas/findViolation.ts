import { createContext, Script } from "node:vm";
import { Validator, type OutputUnit, type SchemaDraft } from "@cfworker/json-schema";
import { isObject } from "#events/json.ts";
import type { SchemaViolation } from "#events/schemaChecker.ts";

/** Maximum CPU time of one check. A tenant's schema may be written to take forever. */
const MAX_CHECK_MS = 250;

const DRAFTS: [RegExp, SchemaDraft][] = [
  [/draft-0[34]/, "4"],
  [/draft-0[67]/, "7"],
  [/2019-09/, "2019-09"],
];
const readDraft = ({ $schema }: Record<string, unknown>): SchemaDraft =>
  DRAFTS.find(([uri]) => typeof $schema === "string" && uri.test($schema))?.[1] ?? "2020-12";

/** Keywords whose cost depends on the value only. */
const PLAIN_KEYWORDS = new Set(
  "type required minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties maxProperties title description default examples $schema $comment".split(
    " ",
  ),
);
/** Maximum values of an `enum` in a plain schema. */
const MAX_PLAIN_ENUM = 50;

/** Whether the check is quick for every value: the schema has no patterns, references or alternatives. */
function isPlain(schema: unknown): boolean {
  if (typeof schema === "boolean") return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (PLAIN_KEYWORDS.has(keyword)) return true;
    if (keyword === "enum") return Array.isArray(value) && value.length <= MAX_PLAIN_ENUM && !value.some(isObject);
    if (keyword === "properties") return isObject(value) && Object.values(value).every(isPlain);
    return (keyword === "items" || keyword === "additionalProperties") && isPlain(value);
  });
}

/** Maximum product of the nodes of a schema and of a value: a few milliseconds of work. */
const MAX_CHEAP_WORK = 10_000;

/** Counts objects, arrays and scalars in a JSON value, up to `limit`. */
function countNodes(root: unknown, limit: number): number {
  let count = 0;
  const open = [root];
  while (open.length > 0 && count < limit) {
    const node = open.pop();
    count++;
    if (typeof node !== "object" || node === null) continue;
    for (const key in node) {
      open.push((node as Record<string, unknown>)[key]);
      if (open.length >= limit) return limit;
    }
  }
  return count;
}

/** Whether the check certainly ends within milliseconds: the schema is small and plain, and the value small. */
export function isCheap(schema: Record<string, unknown>, value: unknown): boolean {
  const schemaNodes = countNodes(schema, MAX_CHEAP_WORK);
  const maxValueNodes = Math.floor(MAX_CHEAP_WORK / schemaNodes);
  return countNodes(value, maxValueNodes + 1) <= maxValueNodes && isPlain(schema);
}

const sandbox = createContext({ check: undefined as (() => unknown) | undefined });
const script = new Script("check()");

/** Runs a check with a timeout that also interrupts regular expressions and loops in the validator. Costs 0.25 ms. */
function runWithTimeout<T>(check: () => T): T {
  sandbox["check"] = check;
  try {
    return script.runInContext(sandbox, { timeout: MAX_CHECK_MS }) as T;
  } finally {
    sandbox["check"] = undefined;
  }
}

/** Keywords that only repeat a violation reported further down. */
const CONTAINERS = new Set(
  "properties patternProperties additionalProperties unevaluatedProperties items prefixItems additionalItems unevaluatedItems $ref $recursiveRef allOf if dependentSchemas".split(
    " ",
  ),
);
const MISSING = /required property "([^]*)"\.$/;

function firstViolation(errors: OutputUnit[]): SchemaViolation {
  const { instanceLocation, keyword, error } = errors.find((each) => !CONTAINERS.has(each.keyword)) ?? errors.at(-1)!;
  const pointer = decodeURI(instanceLocation.slice(1));
  if (keyword === "false") return { pointer, message: "is not allowed here" };
  const missing = keyword === "required" ? MISSING.exec(error)?.[1] : undefined;
  if (missing === undefined) return { pointer, message: error };
  return { pointer: `${pointer}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`, message: "is required" };
}

export const TOO_SLOW: SchemaViolation = {
  pointer: "",
  message: "takes too long to be checked against its JSON Schema",
};

/** Validators of schemas in use. */
const validators = new WeakMap<object, Validator>();

function validate(schema: Record<string, unknown>, value: unknown) {
  let validator = validators.get(schema);
  if (!validator) validators.set(schema, (validator = new Validator(schema, readDraft(schema))));
  return validator.validate(value);
}

/**
 * Checks a value against a tenant's JSON Schema; undefined if it is valid. The schema is interpreted, never compiled to code. A
 * check that takes too long (nested alternatives, a pattern with backtracking) is interrupted and counts as a violation.
 */
export function findViolation(schema: Record<string, unknown>, value: unknown): SchemaViolation | undefined {
  const began = performance.now();
  try {
    const { valid, errors } = isCheap(schema, value)
      ? validate(schema, value)
      : runWithTimeout(() => validate(schema, value));
    return valid ? undefined : firstViolation(errors);
  } catch (error) {
    // V8 sometimes reports a timeout as a stack overflow; a real overflow comes within milliseconds
    if (performance.now() - began > MAX_CHECK_MS / 2) return TOO_SLOW;
    const reason = (error as Error).message.split("\n")[0];
    return { pointer: "", message: `cannot be checked against its JSON Schema: ${reason}` };
  }
}
