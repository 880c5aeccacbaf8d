import type { AnyNode, ObjectExpression, Property } from "acorn";

/* Evaluates code statically, as far as values are literals. */

/** A value that is only known at run time. */
export const UNKNOWN = Symbol("unknown");
/** Objects that may get more fields at run time. */
const open = new WeakSet<object>();

export const propertyName = ({ computed, key }: Pick<Property, "computed" | "key">): string | undefined => {
  if (!computed && key.type === "Identifier") return key.name;
  return key.type === "Literal" ? String(key.value) : undefined;
};

function readObject({ properties }: ObjectExpression): object {
  const value: Record<string, unknown> = {};
  for (const property of properties) {
    const name = property.type === "Property" ? propertyName(property) : undefined;
    if (name !== undefined && name !== "__proto__")
      value[name] = property.type === "Property" && property.kind === "init" ? readValue(property.value) : UNKNOWN;
    else {
      // a spread may replace the fields before it
      for (const known of Object.keys(value)) value[known] = UNKNOWN;
      open.add(value);
    }
  }
  return value;
}

/** The value of an expression. Parts that are not literals are UNKNOWN, including inside of objects and arrays. */
export function readValue(node: AnyNode): unknown {
  switch (node.type) {
    case "Literal":
      return "regex" in node || "bigint" in node ? UNKNOWN : node.value;
    case "TemplateLiteral":
      return node.expressions.length === 0 ? node.quasis[0]!.value.cooked : UNKNOWN;
    case "UnaryExpression": {
      const value = node.operator === "-" ? readValue(node.argument) : UNKNOWN;
      return typeof value === "number" ? -value : UNKNOWN;
    }
    case "ArrayExpression":
      if (node.elements.some((each) => each?.type === "SpreadElement")) return UNKNOWN;
      return node.elements.map((each) => (each ? readValue(each) : undefined));
    case "ObjectExpression":
      return readObject(node);
    default:
      return UNKNOWN;
  }
}

/** Whether a value, or a part of it, is only known at run time. */
export function isUncertain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === UNKNOWN;
  return open.has(value) || Object.values(value).some(isUncertain);
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === "object" && value !== null;

/** Whether the value at a path is only known at run time. */
export function isUncertainAt(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const part of path) {
    if (!isObject(at)) return at === UNKNOWN;
    if (!Object.hasOwn(at, part)) return open.has(at);
    at = at[part];
  }
  return isUncertain(at);
}

/** The node at a path of a value, or the nearest one above it. */
export function nodeAt(node: AnyNode, [part, ...rest]: readonly PropertyKey[]): AnyNode {
  if (part === undefined) return node;
  if (node.type === "ArrayExpression") {
    const element = node.elements[Number(part)];
    return element ? nodeAt(element, rest) : node;
  }
  if (node.type !== "ObjectExpression") return node;
  const property = node.properties.findLast((one) => one.type === "Property" && propertyName(one) === String(part));
  return property?.type === "Property" ? nodeAt(property.value, rest) : node;
}

/** The key of the property at a path of an object, as a node of the code. */
export function keyAt(node: AnyNode, path: readonly PropertyKey[]): AnyNode {
  const object = nodeAt(node, path.slice(0, -1));
  if (object.type !== "ObjectExpression") return object;
  return (
    object.properties.findLast((one) => one.type === "Property" && propertyName(one) === String(path.at(-1))) ?? object
  );
}
