import { z } from "zod";
import { isObject } from "#events/json.ts";

/** Maximum nesting of a schema; providers allow about ten levels. */
const MAX_DEPTH = 20;
/** Maximum characters of JSON, because a schema is sent to the model with each request. */
const MAX_SIZE = 32_768;
/** Keywords that providers refuse at the top level of a tool's parameters. */
const FORBIDDEN_AT_TOP = ["oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref"];
const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

type Path = (string | number)[];
interface Fault {
  path: Path;
  message: string;
}

function typeFault({ type }: Record<string, unknown>, path: Path): Fault | undefined {
  const types = Array.isArray(type) ? type : [type];
  if (type === undefined || types.every((each) => TYPES.has(each as string))) return undefined;
  return { path: [...path, "type"], message: "is not a type of JSON Schema" };
}

const subschemas = (schema: Record<string, unknown>): [Path, unknown][] => [
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

function schemaFault(schema: unknown, path: Path): Fault | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return { path, message: "must be a schema" };
  const { properties, required } = schema;
  if (properties !== undefined && !isObject(properties))
    return { path: [...path, "properties"], message: "must be an object of schemas" };
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string")))
    return { path: [...path, "required"], message: "must be a list of names" };
  const fault = typeFault(schema, path);
  if (fault) return fault;
  for (const [at, inner] of subschemas(schema)) {
    const found = schemaFault(inner, [...path, ...at]);
    if (found) return found;
  }
  return undefined;
}

/** One level of a schema is two levels of JSON: the object of a keyword, and the schemas in it. */
const nestsDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1)));

function sizeFault(schema: Record<string, unknown>): Fault | undefined {
  // before anything that recurses, including JSON.stringify
  if (nestsDeeper(schema, 2 * MAX_DEPTH)) return { path: [], message: `nests deeper than ${MAX_DEPTH} levels` };
  if (JSON.stringify(schema).length > MAX_SIZE) return { path: [], message: `is longer than ${MAX_SIZE} characters` };
  return undefined;
}

function providerFault(schema: Record<string, unknown>): Fault | undefined {
  if (schema["type"] !== "object") return { path: ["type"], message: 'must be "object"' };
  const banned = FORBIDDEN_AT_TOP.find((key) => key in schema);
  return banned ? { path: [banned], message: "is not allowed at the top" } : undefined;
}

/** Accepts a JSON Schema within the limits above, unless `findExtraFault` objects to its top level. */
const jsonSchema = (findExtraFault: (schema: Record<string, unknown>) => Fault | undefined) =>
  z.record(z.string(), z.unknown()).superRefine((schema, context) => {
    const fault = sizeFault(schema) ?? findExtraFault(schema) ?? schemaFault(schema, []);
    if (fault) context.addIssue({ code: "custom", ...fault });
  });

/** JSON Schema of a tool's arguments, in the subset that every provider accepts. */
export const Parameters = jsonSchema(providerFault);

/** JSON Schema of a run's arguments, which must be an object. */
export const RunArguments = jsonSchema(({ type = "object" }) =>
  type === "object" ? undefined : { path: ["type"], message: 'must be "object"' },
);

/** JSON Schema of any value. */
export const AnySchema = jsonSchema(() => undefined);
