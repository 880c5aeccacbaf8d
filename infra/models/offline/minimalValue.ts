import { isObject } from "#events/json.ts";

type Schema = Record<string, unknown>;

/** A schema may refer to itself: values below this depth become null, as do further parts. */
const MAX_DEPTH = 32;
const MAX_PARTS = 2_000;
/** Maximum schemas of one `allOf` that are merged; each may have thousands of names. */
const MAX_ALL_OF = 50;
/** Maximum characters of a reference that are read. */
const MAX_REF = 250;

/** The smallest JSON value that a schema allows, built without validation: patterns are not satisfied. */
export function minimalValue(root: unknown): unknown {
  let left = MAX_PARTS;
  const build = (schema: unknown, depth: number): unknown => {
    left -= 1;
    if (!isObject(schema) || depth > MAX_DEPTH || left < 0) return null;
    return buildValue(schema, root, {
      build: (inner) => build(inner, depth + 1),
      partsLeft: () => Math.max(0, left),
      count: (parts) => void (left -= parts),
    });
  };
  return build(root, 0);
}

/** Builds the values of inner schemas within the remaining limit. */
interface Builder {
  build(schema: unknown): unknown;
  partsLeft(): number;
  count(parts: number): void;
}

function buildValue(schema: Schema, root: unknown, inner: Builder): unknown {
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  if (typeof schema.$ref === "string") return inner.build(resolveRef(schema.$ref, root));
  const choices = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(choices)) return inner.build(choices.find(isNull) ?? choices[0]);
  if (Array.isArray(schema.allOf)) return inner.build(mergeAll(schema, root, inner));
  const types = [schema.type].flat();
  return types.includes("null") ? null : buildTyped(types[0] ?? impliedType(schema), schema, inner);
}

const isNull = (schema: unknown): boolean => isObject(schema) && schema.type === "null";

const impliedType = (schema: Schema): string =>
  "properties" in schema || "required" in schema ? "object" : "items" in schema ? "array" : "null";

function buildTyped(type: unknown, schema: Schema, inner: Builder): unknown {
  if (type === "object") return minimalObject(schema, inner);
  if (type === "array")
    return Array.from({ length: Math.min(numberOr(schema.minItems, 0), inner.partsLeft()) }, () =>
      inner.build(schema.items),
    );
  if (type === "string") return minimalString(schema);
  if (type === "integer" || type === "number") return minimalNumber(schema, type === "integer");
  return type === "boolean" ? false : null;
}

function minimalObject(schema: Schema, inner: Builder): Schema {
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    requiredNames(schema)
      .slice(0, inner.partsLeft())
      .map((name) => [name, inner.build(Object.hasOwn(properties, name) ? properties[name] : undefined)]),
  );
}

const requiredNames = ({ required }: Schema): string[] =>
  Array.isArray(required) ? [...new Set(required.slice(0, MAX_PARTS).filter((name) => typeof name === "string"))] : [];

const countNames = (schema: Schema): number =>
  [schema, schema.properties ?? {}, requiredNames(schema)].reduce<number>(
    (sum, one) => sum + Object.keys(one).length,
    0,
  );

/** Merges the schemas of `allOf` into one. Their names count as parts, because each use of a schema merges them again. */
function mergeAll({ allOf, ...own }: Schema, root: unknown, { count, partsLeft }: Builder): Schema {
  const all: Schema[] = [];
  for (const part of [own, ...(allOf as unknown[]).slice(0, MAX_ALL_OF)]) {
    if (partsLeft() === 0) break;
    const schema = isObject(part) && typeof part.$ref === "string" ? resolveRef(part.$ref, root) : part;
    if (!isObject(schema)) continue;
    count(countNames(schema));
    all.push(schema);
  }
  const properties = Object.assign({}, ...all.map((one) => one.properties ?? {}));
  return {
    ...Object.assign({}, ...all),
    allOf: undefined,
    properties,
    required: [...new Set(all.flatMap(requiredNames))],
  };
}

/** The part of the whole schema that `#/a/b` points to. */
const resolveRef = (ref: string, root: unknown): unknown =>
  ref
    .slice(0, MAX_REF)
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);

const numberOr = <T>(value: unknown, otherwise: T): number | T => (typeof value === "number" ? value : otherwise);

function minimalNumber(schema: Schema, whole: boolean): number {
  const step = numberOr(schema.multipleOf, whole ? 1 : 0);
  const above = numberOr(schema.exclusiveMinimum, undefined);
  const below = numberOr(schema.exclusiveMaximum, undefined);
  const min = numberOr(
    schema.minimum,
    above === undefined ? Number.NEGATIVE_INFINITY : above + (step || Number.MIN_VALUE),
  );
  const max = numberOr(schema.maximum, below === undefined ? Number.POSITIVE_INFINITY : below - (step || 1));
  const nearest = Math.min(Math.max(0, min), max);
  return step === 0 ? nearest : (nearest === max ? Math.floor(nearest / step) : Math.ceil(nearest / step)) * step;
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

/** Maximum characters of a string, whatever minimum the schema sets. */
const MAX_STRING = 1_000;

const minimalString = (schema: Schema): string =>
  FORMATS[String(schema.format)] ?? "x".repeat(Math.min(Math.max(0, numberOr(schema.minLength, 0)), MAX_STRING));
