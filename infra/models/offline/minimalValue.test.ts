import { expect, test } from "vitest";
import { z } from "zod";
import { minimalValue } from "./minimalValue.ts";

const object = (properties: object, required = Object.keys(properties)) => ({ type: "object", properties, required });

test.each<[string, object, unknown]>([
  ["an object without required fields", { type: "object", properties: { a: { type: "string" } } }, {}],
  [
    "required fields",
    object({ a: { type: "string" }, b: { type: "integer" }, c: { type: "boolean" } }),
    { a: "", b: 0, c: false },
  ],
  ["an enum", { enum: ["red", "green"] }, "red"],
  ["a constant", { const: 7 }, 7],
  ["a list", { type: "array", items: { type: "string" } }, []],
  ["a list with a minimum length", { type: "array", items: { type: "number" }, minItems: 2 }, [0, 0]],
  ["a long string", { type: "string", minLength: 3 }, "xxx"],
  ["a date", { type: "string", format: "date-time" }, "1970-01-01T00:00:00Z"],
  ["an e-mail address", { type: "string", format: "email" }, "a@example.com"],
  ["a UUID", { type: "string", format: "uuid" }, "00000000-0000-4000-8000-000000000000"],
  ["a number from 5", { type: "number", minimum: 5 }, 5],
  ["an integer above 5", { type: "integer", exclusiveMinimum: 5 }, 6],
  ["an integer to -3", { type: "integer", maximum: -3 }, -3],
  ["a multiple of 4 from 5", { type: "integer", minimum: 5, multipleOf: 4 }, 8],
  ["a nullable string", { type: ["string", "null"] }, null],
  ["alternatives with null", { anyOf: [{ type: "string" }, { type: "null" }] }, null],
  ["alternatives", { oneOf: [{ type: "integer", minimum: 2 }, { type: "string" }] }, 2],
  [
    "several schemas at once",
    { allOf: [object({ a: { type: "integer" } }), object({ b: { const: "x" } })] },
    { a: 0, b: "x" },
  ],
  [
    "a reference among several schemas",
    { allOf: [{ $ref: "#/$defs/o" }], $defs: { o: object({ a: { type: "integer" } }) } },
    { a: 0 },
  ],
  ["a reference", { ...object({ a: { $ref: "#/$defs/n" } }), $defs: { n: { type: "integer", minimum: 3 } } }, { a: 3 }],
])("the smallest value of %s is valid", (_, schema, expected) => {
  const value = minimalValue(schema);
  expect(value).toEqual(expected);
  expect(z.fromJSONSchema(schema as never).safeParse(value).success).toBe(true);
});

test.each([
  ["that refers to itself", { $ref: "#" }],
  ["that needs itself", { ...object({ next: { $ref: "#" } }) }],
  ["that needs itself twice", { ...object({ a: { $ref: "#" }, b: { $ref: "#" }, c: { $ref: "#" } }) }],
  ["that needs itself in every way", { allOf: [{ $ref: "#" }, object({ a: { $ref: "#" } })] }],
  [
    "of lists of lists",
    { $ref: "#/$defs/l", $defs: { l: { type: "array", minItems: 50, items: { $ref: "#/$defs/l" } } } },
  ],
  ["that refers to nothing", { $ref: "#/$defs/missing" }],
  ["that is a string", "string"],
  ["with strange parts", { type: 5, properties: [], required: "a", enum: {}, anyOf: "x" }],
  [
    "with a name of the language",
    object({ __proto__: { type: "string" }, constructor: { type: "string" } }, ["constructor"]),
  ],
  ["that asks for a huge value", { type: "array", items: { type: "string", minLength: 1e12 }, minItems: 1e12 }],
])("a schema %s still gets some JSON value", (_, schema) => {
  expect(JSON.stringify(minimalValue(schema)).length).toBeLessThan(3_000_000);
});
