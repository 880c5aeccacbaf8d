import { describe, expect, test } from "vitest";
import { findViolation, isCheap } from "./findViolation.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const violation = (schema: object, value: unknown) => findViolation(schema as Record<string, unknown>, value);

describe("the check of a value against a JSON Schema", () => {
  test("reports the place and the kind of a violation", () => {
    const schema = object(
      { to: { type: "string", format: "email" }, "a/b": object({ "~": { type: "integer", minimum: 1 } }) },
      { required: ["to"], additionalProperties: false },
    );
    expect(violation(schema, { to: "a@b.example" })).toBeUndefined();
    expect(violation(schema, {})).toEqual({ pointer: "/to", message: "is required" });
    expect(violation(schema, { to: "nobody" })).toMatchObject({
      pointer: "/to",
      message: expect.stringContaining("email"),
    });
    expect(violation(schema, { to: "a@b.example", "a/b": { "~": 0 } })).toMatchObject({ pointer: "/a~1b/~0" });
    expect(violation(schema, { to: "a@b.example", "grüße %": 1 })).toEqual({
      pointer: "/grüße %",
      message: "is not allowed here",
    });
    expect(violation({ anyOf: [{ type: "string" }, object({ a: { type: "null" } })] }, { a: 1 })?.pointer).toBe("");
  });

  test("treats __proto__ and other prototype names as plain properties", () => {
    const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":1,"toString":2}');
    expect(violation(object({}, { additionalProperties: false }), hostile)?.pointer).toBe("/__proto__");
    expect(violation(object({ constructor: { type: "integer" } }), hostile)).toBeUndefined();
    expect(violation(object({}, { required: ["valueOf"] }), {})?.pointer).toBe("/valueOf");
    expect(violation(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), hostile)?.pointer).toBe(
      "/__proto__",
    );
  });

  test("follows the draft that the schema names", () => {
    const items = { items: [{ type: "string" }], additionalItems: false };
    expect(violation({ $schema: "http://json-schema.org/draft-07/schema#", ...items }, ["a", 1])?.pointer).toBe("/1");
    expect(violation({ prefixItems: [{ type: "string" }], items: false }, ["a", 1])?.pointer).toBe("/1");
  });

  const nested = (depth: number): object =>
    depth === 0
      ? { type: "string" }
      : { anyOf: [{ $ref: `#/$defs/d${depth - 1}` }, { $ref: `#/$defs/d${depth - 1}` }] };
  const alternatives = {
    $defs: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, nested(n)])),
    ...nested(40),
  };
  test.each<[string, object, unknown]>([
    ["a pattern with backtracking", object({ a: { pattern: "^(a+)+$" } }), { a: `${"a".repeat(60)}!` }],
    ["a pattern for names with backtracking", { patternProperties: { "^(a|a)*$": {} } }, { [`${"a".repeat(60)}!`]: 1 }],
    ["deeply nested alternatives", alternatives, 1],
    ["a quarter of a million unique items", { uniqueItems: true }, Array.from({ length: 250_000 }, (_, n) => n)],
  ])("stops at %s, which takes too long", (_, schema, value) => {
    expect(violation(schema, value)).toEqual({
      pointer: "",
      message: "takes too long to be checked against its JSON Schema",
    });
    expect(violation({ type: "string", pattern: "^b" }, "b")).toBeUndefined();
  });

  test.each<[string, object]>([
    ["a circular reference", { $ref: "#" }],
    ["a reference to nothing", { $ref: "#/$defs/none" }],
    ["an invalid pattern", { pattern: "[" }],
  ])("refuses every value for a schema with %s", (_, schema) => {
    expect(violation(schema, "x")).toMatchObject({ pointer: "", message: expect.stringMatching(/^cannot be checked/) });
  });
});

describe("a check is cheap", () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { type: "string" }]));
  test.each<[string, boolean, Record<string, unknown>, unknown]>([
    ["with a small plain schema and a small value", true, { properties: many(10) }, { p1: "a" }],
    [
      "with a small plain schema and 100 items",
      true,
      { type: "array", items: { type: "string" } },
      Array(100).fill("a"),
    ],
    ["never with a pattern", false, { pattern: "a" }, "a"],
    ["never with a reference", false, { $ref: "#" }, 1],
    ["not with 3,700 properties and 100 items", false, { items: { properties: many(3_700) } }, Array(100).fill({})],
    ["not with 60,000 items", false, { items: { properties: many(3) } }, Array(60_000).fill({})],
  ])("%s: %s", (_title, expected, schema, value) => {
    expect(isCheap(schema, value)).toBe(expected);
  });
});
