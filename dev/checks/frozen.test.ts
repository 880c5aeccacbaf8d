import { describe, expect, test } from "vitest";
import { eventDefinitions } from "#events/index.ts";
import { findBreakingChanges, findFrozenFaults, readFrozen, type Schema } from "./frozen.ts";
import { publishedSchema, publishedTypes } from "#events/published.ts";

const frozen = readFrozen();

test("every event is frozen as it is written now, and what was frozen still holds", () => {
  expect(findFrozenFaults()).toEqual([]);
});

describe("an event of every type and version that was ever written is read as of today", () => {
  test.each(frozen.map((one) => [`${one.type}, version ${one.version}`, one] as const))("%s", (_, one) => {
    const definition = eventDefinitions.get(one.type)!;
    let stored = one.example;
    for (let version = one.version; version < definition.version; version++)
      stored = definition.upcasts[version]!(stored);
    expect(definition.public.parse(stored.data)).toEqual(stored.data);
    if (definition.personal) definition.personal.parse(stored.personal);
    else expect(stored.personal).toBeUndefined();
  });
  test("older versions than today's are among them", () => {
    const old = frozen.filter(({ type, version }) => version < eventDefinitions.get(type)!.version);
    expect(old.map(({ type }) => type).sort()).toEqual(
      [...eventDefinitions.values()].flatMap(({ type, version }) => Array(version - 1).fill(type)).sort(),
    );
  });
});

describe("a schema", () => {
  const object = (properties: Schema, required: string[] = []): Schema => ({ type: "object", properties, required });
  const text = { type: "string" };
  test.each([
    ["a removed field", object({ a: text }), object({})],
    ["a new required field", object({ a: text }), object({ a: text, b: text }, ["b"])],
    ["a field of another type", object({ a: text }), object({ a: { type: "integer" } })],
    ["a removed value", object({ a: { enum: ["x", "y"] } }), object({ a: { enum: ["x"] } })],
    ["a removed alternative", { anyOf: [text, { type: "null" }] }, text],
    [
      "a removed field within a list",
      { type: "array", items: object({ a: text }) },
      { type: "array", items: object({}) },
    ],
  ])("is broken by %s", (_, before, now) => expect(findBreakingChanges(before, now)).not.toEqual([]));
  test.each([
    ["a new optional field", object({ a: text }), object({ a: text, b: text })],
    ["a new value", object({ a: { enum: ["x"] } }), object({ a: { enum: ["x", "y"] } })],
    ["a new alternative", text, { anyOf: [text, { type: "null" }] }],
  ])("is not broken by %s", (_, before, now) => expect(findBreakingChanges(before, now)).toEqual([]));
});

test("no published field contains a secret, a blob or a name", () => {
  const told = publishedTypes().flatMap((type) => Object.keys(publishedSchema(type).properties ?? {}));
  expect(told.filter((name) => /hash|hint|claim|blob|sealed|token$/.test(name))).toEqual([]);
});
