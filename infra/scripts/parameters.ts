import { z } from "zod";

/** Levels of a schema; providers allow about ten. */
const DEEPEST = 20;
/** Characters of its JSON: it goes to the model with each request. */
const LONGEST = 32_768;
/** What providers do not take at the top of a tool's parameters. */
const NOT_AT_TOP = ["oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref"];
const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

type Path = (string | number)[];
interface Fault {
  path: Path;
  message: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function faultOfType({ type }: Record<string, unknown>, path: Path): Fault | undefined {
  const named = Array.isArray(type) ? type : [type];
  if (type === undefined || named.every((each) => TYPES.has(each as string))) return undefined;
  return { path: [...path, "type"], message: "is no type of JSON Schema" };
}

const schemasIn = (schema: Record<string, unknown>): [Path, unknown][] => [
  ...["properties", "$defs", "patternProperties"].flatMap((key) =>
    isObject(schema[key])
      ? Object.entries(schema[key]).map(([name, value]): [Path, unknown] => [[key, name], value])
      : [],
  ),
  ...["items", "additionalProperties", "not"].flatMap((key): [Path, unknown][] =>
    schema[key] === undefined ? [] : [[[key], schema[key]]],
  ),
  ...["anyOf", "oneOf", "allOf", "prefixItems"].flatMap((key) =>
    Array.isArray(schema[key]) ? schema[key].map((value, n): [Path, unknown] => [[key, n], value]) : [],
  ),
];

function faultIn(schema: unknown, path: Path): Fault | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return { path, message: "must be a schema" };
  const { properties, required } = schema;
  if (properties !== undefined && !isObject(properties))
    return { path: [...path, "properties"], message: "must be an object of schemas" };
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string")))
    return { path: [...path, "required"], message: "must be a list of names" };
  const fault = faultOfType(schema, path);
  if (fault) return fault;
  for (const [at, inner] of schemasIn(schema)) {
    const found = faultIn(inner, [...path, ...at]);
    if (found) return found;
  }
  return undefined;
}

/** A level of a schema is two of JSON: its keyword's object, and what is in that. */
const nestsDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1)));

function faultOfSize(schema: Record<string, unknown>): Fault | undefined {
  // first of all: JSON.stringify and what follows go down to the bottom
  if (nestsDeeper(schema, 2 * DEEPEST)) return { path: [], message: `nests deeper than ${DEEPEST} levels` };
  if (JSON.stringify(schema).length > LONGEST) return { path: [], message: `is longer than ${LONGEST} characters` };
  return undefined;
}

function faultForModels(schema: Record<string, unknown>): Fault | undefined {
  if (schema["type"] !== "object") return { path: ["type"], message: 'must be "object"' };
  const banned = NOT_AT_TOP.find((key) => key in schema);
  return banned ? { path: [banned], message: "is not allowed at the top" } : undefined;
}

const schemaWithout = (faultOf: (schema: Record<string, unknown>) => Fault | undefined) =>
  z.record(z.string(), z.unknown()).superRefine((schema, context) => {
    const fault = faultOfSize(schema) ?? faultOf(schema) ?? faultIn(schema, []);
    if (fault) context.addIssue({ code: "custom", ...fault });
  });

/** JSON Schema of a tool's arguments, as every provider takes it. */
export const Parameters = schemaWithout(faultForModels);

/** JSON Schema of the arguments of a run, which are an object. */
export const RunArguments = schemaWithout(({ type = "object" }) =>
  type === "object" ? undefined : { path: ["type"], message: 'must be "object"' },
);

/** JSON Schema of any value. */
export const AnySchema = schemaWithout(() => undefined);
