import { createContext, Script } from "node:vm";
import { Validator, type OutputUnit, type SchemaDraft } from "@cfworker/json-schema";

/** Where a value differs from its schema (JSON pointer, "" for the whole), and how. */
export interface Misfit {
  pointer: string;
  message: string;
}
/** Undefined where the value fits. */
export type SchemaCheck = (value: unknown) => Misfit | undefined;

/** What a check may take, where the schema may make it take long. */
const LONGEST_MS = 250;

const DRAFTS: [RegExp, SchemaDraft][] = [
  [/draft-0[34]/, "4"],
  [/draft-0[67]/, "7"],
  [/2019-09/, "2019-09"],
];
const draftOf = ({ $schema }: Record<string, unknown>): SchemaDraft =>
  DRAFTS.find(([uri]) => typeof $schema === "string" && uri.test($schema))?.[1] ?? "2020-12";

/** Keywords whose cost grows with the value alone. */
const PLAIN = new Set(
  "type required minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties maxProperties title description default examples $schema $comment".split(
    " ",
  ),
);
const MANY = 50;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a check against the schema is quick whatever the value: no pattern, no reference, no alternatives. */
function isPlain(schema: unknown): boolean {
  if (typeof schema === "boolean") return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (PLAIN.has(keyword)) return true;
    if (keyword === "enum") return Array.isArray(value) && value.length <= MANY && !value.some(isObject);
    if (keyword === "properties") return isObject(value) && Object.values(value).every(isPlain);
    return (keyword === "items" || keyword === "additionalProperties") && isPlain(value);
  });
}

const room = createContext({ check: undefined as (() => unknown) | undefined });
const checking = new Script("check()");

/** Ends what takes too long, a pattern or a loop of the validator as well; it costs 0.25 ms. */
function bounded<T>(check: () => T): T {
  room["check"] = check;
  try {
    return checking.runInContext(room, { timeout: LONGEST_MS }) as T;
  } finally {
    room["check"] = undefined;
  }
}

/** Keywords that only tell that something below them does not fit. */
const ON_THE_WAY = new Set(
  "properties patternProperties additionalProperties unevaluatedProperties items prefixItems additionalItems unevaluatedItems $ref $recursiveRef allOf if dependentSchemas".split(
    " ",
  ),
);
const MISSING = /required property "([^]*)"\.$/;

function misfitIn(errors: OutputUnit[]): Misfit {
  const { instanceLocation, keyword, error } = errors.find((each) => !ON_THE_WAY.has(each.keyword)) ?? errors.at(-1)!;
  const pointer = decodeURI(instanceLocation.slice(1));
  if (keyword === "false") return { pointer, message: "is not allowed here" };
  const missing = keyword === "required" ? MISSING.exec(error)?.[1] : undefined;
  if (missing === undefined) return { pointer, message: error };
  return { pointer: `${pointer}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`, message: "is required" };
}

const isTimeout = (error: unknown): boolean => (error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * Checks values against a JSON Schema that somebody else has written. It is interpreted, never compiled to code, and one
 * that is made to take long (nested alternatives, a pattern that goes back and forth) is given up.
 */
export function schemaCheck(schema: Record<string, unknown>): SchemaCheck {
  const plain = isPlain(schema);
  let validator: Validator | undefined;
  const check = (value: unknown) => {
    validator ??= new Validator(schema, draftOf(schema));
    return validator.validate(value);
  };
  return (value) => {
    try {
      const { valid, errors } = plain ? check(value) : bounded(() => check(value));
      return valid ? undefined : misfitIn(errors);
    } catch (error) {
      if (isTimeout(error)) return { pointer: "", message: "takes too long to be checked against its JSON Schema" };
      const reason = (error as Error).message.split("\n")[0];
      return { pointer: "", message: `cannot be checked against its JSON Schema: ${reason}` };
    }
  };
}
