import { describe, expect, test } from "vitest";
import { schemaCheck } from "./jsonSchema.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const misfit = (schema: object, value: unknown) => schemaCheck(schema as Record<string, unknown>)(value);

describe("a value against a JSON Schema", () => {
  test("fits, or is told where it does not", () => {
    const schema = object(
      { to: { type: "string", format: "email" }, "a/b": object({ "~": { type: "integer", minimum: 1 } }) },
      { required: ["to"], additionalProperties: false },
    );
    expect(misfit(schema, { to: "a@b.example" })).toBeUndefined();
    expect(misfit(schema, {})).toEqual({ pointer: "/to", message: "is required" });
    expect(misfit(schema, { to: "nobody" })).toMatchObject({
      pointer: "/to",
      message: expect.stringContaining("email"),
    });
    expect(misfit(schema, { to: "a@b.example", "a/b": { "~": 0 } })).toMatchObject({ pointer: "/a~1b/~0" });
    expect(misfit(schema, { to: "a@b.example", "grüße %": 1 })).toEqual({
      pointer: "/grüße %",
      message: "is not allowed here",
    });
    expect(misfit({ anyOf: [{ type: "string" }, object({ a: { type: "null" } })] }, { a: 1 })?.pointer).toBe("");
  });

  test("names of prototypes are properties like others", () => {
    const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":1,"toString":2}');
    expect(misfit(object({}, { additionalProperties: false }), hostile)?.pointer).toBe("/__proto__");
    expect(misfit(object({ constructor: { type: "integer" } }), hostile)).toBeUndefined();
    expect(misfit(object({}, { required: ["valueOf"] }), {})?.pointer).toBe("/valueOf");
    expect(misfit(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), hostile)?.pointer).toBe("/__proto__");
  });

  test("older drafts are read as they were written", () => {
    const items = { items: [{ type: "string" }], additionalItems: false };
    expect(misfit({ $schema: "http://json-schema.org/draft-07/schema#", ...items }, ["a", 1])?.pointer).toBe("/1");
    expect(misfit({ prefixItems: [{ type: "string" }], items: false }, ["a", 1])?.pointer).toBe("/1");
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
    ["a pattern that goes back and forth", object({ a: { pattern: "^(a+)+$" } }), { a: `${"a".repeat(60)}!` }],
    ["names that do so", { patternProperties: { "^(a|a)*$": {} } }, { [`${"a".repeat(60)}!`]: 1 }],
    ["alternatives of alternatives", alternatives, 1],
    ["a quarter of a million unique items", { uniqueItems: true }, Array.from({ length: 250_000 }, (_, n) => n)],
  ])("%s is given up", (_, schema, value) => {
    expect(misfit(schema, value)).toEqual({
      pointer: "",
      message: "takes too long to be checked against its JSON Schema",
    });
    expect(misfit({ type: "string", pattern: "^b" }, "b")).toBeUndefined();
  });

  test.each<[string, object]>([
    ["a circle", { $ref: "#" }],
    ["a reference to nothing", { $ref: "#/$defs/none" }],
    ["no pattern", { pattern: "[" }],
  ])("a schema with %s refuses every value", (_, schema) => {
    expect(misfit(schema, "x")).toMatchObject({ pointer: "", message: expect.stringMatching(/^cannot be checked/) });
  });
});
