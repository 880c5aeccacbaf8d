type Schema = Record<string, unknown>;

/** Schemas that refer to themselves end here; a value never has more parts than this. */
const MAX_DEPTH = 32;
const MAX_PARTS = 2_000;

/** The smallest JSON value that a schema allows, as far as it can be seen without trying (patterns are not met). */
export function minimalValue(root: unknown): unknown {
  let parts = 0;
  const build = (schema: unknown, depth: number): unknown => {
    parts += 1;
    if (!isObject(schema) || depth > MAX_DEPTH || parts > MAX_PARTS) return null;
    return valueOf(schema, root, (inner) => build(inner, depth + 1));
  };
  return build(root, 0);
}

type Inner = (schema: unknown) => unknown;

function valueOf(schema: Schema, root: unknown, inner: Inner): unknown {
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  if (typeof schema.$ref === "string") return inner(target(schema.$ref, root));
  const choices = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(choices)) return inner(choices.find(isNull) ?? choices[0]);
  if (Array.isArray(schema.allOf)) return inner(merged(schema, root));
  const types = [schema.type].flat();
  return types.includes("null") ? null : ofType(types[0] ?? implied(schema), schema, inner);
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNull = (schema: unknown): boolean => isObject(schema) && schema.type === "null";

const implied = (schema: Schema): string =>
  "properties" in schema || "required" in schema ? "object" : "items" in schema ? "array" : "null";

function ofType(type: unknown, schema: Schema, inner: Inner): unknown {
  if (type === "object") return minimalObject(schema, inner);
  if (type === "array")
    return Array.from({ length: Math.min(numberOr(schema.minItems, 0), MAX_PARTS) }, () => inner(schema.items));
  if (type === "string") return minimalString(schema);
  if (type === "integer" || type === "number") return minimalNumber(schema, type === "integer");
  return type === "boolean" ? false : null;
}

function minimalObject(schema: Schema, inner: Inner): Schema {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
  return Object.fromEntries(
    required.map((name) => [name, inner(Object.hasOwn(properties, name) ? properties[name] : undefined)]),
  );
}

/** Schemas that must all hold, as one. */
function merged({ allOf, ...own }: Schema, root: unknown): Schema {
  const parts = (allOf as unknown[]).map((part) =>
    isObject(part) && typeof part.$ref === "string" ? target(part.$ref, root) : part,
  );
  const all = [own, ...parts.filter(isObject)];
  const properties = Object.assign({}, ...all.map((one) => one.properties ?? {}));
  return {
    ...Object.assign({}, ...all),
    allOf: undefined,
    properties,
    required: all.flatMap((one) => one.required ?? []),
  };
}

/** What `#/a/b` names in the whole schema. */
const target = (ref: string, root: unknown): unknown =>
  ref
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);

const numberOr = <T>(value: unknown, otherwise: T): number | T => (typeof value === "number" ? value : otherwise);

function minimalNumber(schema: Schema, whole: boolean): number {
  const step = numberOr(schema.multipleOf, whole ? 1 : 0);
  const above = numberOr(schema.exclusiveMinimum, undefined);
  const below = numberOr(schema.exclusiveMaximum, undefined);
  const least = numberOr(
    schema.minimum,
    above === undefined ? Number.NEGATIVE_INFINITY : above + (step || Number.MIN_VALUE),
  );
  const most = numberOr(schema.maximum, below === undefined ? Number.POSITIVE_INFINITY : below - (step || 1));
  const nearest = Math.min(Math.max(0, least), most);
  return step === 0 ? nearest : (nearest === most ? Math.floor(nearest / step) : Math.ceil(nearest / step)) * step;
}

const FORMATS: Record<string, string> = {
  "date-time": "1970-01-01T00:00:00Z",
  date: "1970-01-01",
  time: "00:00:00Z",
  duration: "PT0S",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A string is never made longer, whatever the schema wants. */
const MAX_STRING = 1_000;

const minimalString = (schema: Schema): string =>
  FORMATS[String(schema.format)] ?? "x".repeat(Math.min(Math.max(0, numberOr(schema.minLength, 0)), MAX_STRING));
