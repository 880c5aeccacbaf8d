import { isObject } from "#events/json.ts";

/** Maximum nesting and characters of a type; anything beyond becomes `any`. */
const MAX_DEPTH = 8;
const MAX_TYPE = 20_000;

type Schema = Record<string, unknown>;

const isScalar = (value: unknown): boolean => value === null || ["string", "number", "boolean"].includes(typeof value);

const SCALARS: Record<string, string> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

function objectType({ properties, required, additionalProperties }: Schema, depth: number): string {
  if (!isObject(properties) || Object.keys(properties).length === 0)
    return isObject(additionalProperties) ? `Record<string, ${typeAt(additionalProperties, depth - 1)}>` : "any";
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${needed.has(name) ? "" : "?"}: ${typeAt(schema, depth - 1)}`,
  );
  return `{ ${fields.join("; ")} }`;
}

function typeNamed(name: unknown, schema: Schema, depth: number): string {
  if (name === "object") return objectType(schema, depth);
  if (name === "array") return `(${typeAt(schema["items"], depth - 1)})[]`;
  return SCALARS[String(name)] ?? "any";
}

function typeAt(schema: unknown, depth: number): string {
  if (!isObject(schema) || depth === 0) return "any";
  const { type, enum: values } = schema;
  if ("const" in schema && isScalar(schema["const"])) return JSON.stringify(schema["const"]);
  if (Array.isArray(values) && values.length > 0 && values.every(isScalar))
    return values.map((value) => JSON.stringify(value)).join(" | ");
  // alternatives may exclude each other by values, which types cannot express
  if (["anyOf", "oneOf", "allOf", "$ref", "not"].some((key) => key in schema)) return "any";
  if (type === undefined) return isObject(schema["properties"]) ? objectType(schema, depth) : "any";
  return (Array.isArray(type) ? type : [type]).map((name) => typeNamed(name, schema, depth)).join(" | ");
}

/** The TypeScript type of values that match a JSON Schema; `any` where a type cannot express the schema. */
export function schemaType(schema: unknown): string {
  const type = typeAt(schema, MAX_DEPTH);
  return type.length > MAX_TYPE ? "any" : type;
}
