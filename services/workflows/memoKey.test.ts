import { describe, expect, test } from "vitest";
import { memoKey } from "./memoKey.ts";

const keyOf = (value: unknown, name = "charge") => memoKey("step", name, null, JSON.stringify(value));

test.each([
  [{ a: 1, b: 2 }, "6vp8LIaoz38Kd63xDNAGY4"],
  [{ b: 2, a: 1 }, "6vp8LIaoz38Kd63xDNAGY4"],
  [{ a: 1, b: 2, c: undefined }, "6vp8LIaoz38Kd63xDNAGY4"],
  [{ a: 1, b: 2, c: null }, "0MUOmuQbF9hA_oufUnIL7n"],
  [{ a: "1", b: 2 }, "EkwXh9lu3CNAvPBvLsRozl"],
  [{ a: 1, b: { x: [1, 2] } }, "zrpGw88v-IVhzR3m5iY31i"],
  [{ a: 1, b: { x: [2, 1] } }, "kF6D78AdHRWzg2zYOoT9zV"],
])("the key of %j is %s", (args, key) => {
  expect(keyOf(args)).toBe(key);
});

describe("the key of a call depends on", () => {
  const key = memoKey("step", "charge", null, "{}");
  test.each([
    ["the kind", memoKey("many-item", "charge", null, "{}")],
    ["the name", memoKey("step", "refund", null, "{}")],
    ["the author's key", memoKey("step", "charge", "2", "{}")],
    ["the arguments", memoKey("step", "charge", null, "[]")],
  ])("%s", (_, other) => {
    expect(other).not.toBe(key);
    expect(other).toMatch(/^[\w-]{22}$/);
  });
});

test("names and keys with JSON syntax in them do not collide", () => {
  expect(memoKey("step", 'a",null]\n{}', null, "{}")).not.toBe(memoKey("step", "a", null, "{}"));
  expect(memoKey("step", "a", "null", "{}")).not.toBe(memoKey("step", "a", null, "{}"));
});

test("values with the same JSON have the same key", () => {
  expect(keyOf({ at: new Date(0) })).toBe(keyOf({ at: "1970-01-01T00:00:00.000Z" }));
  expect(keyOf({ n: -0 })).toBe(keyOf({ n: 0 }));
  expect(keyOf([undefined])).toBe(keyOf([null]));
  expect(memoKey("step", "a", null, '{"n":1.0}')).toBe(memoKey("step", "a", null, '{ "n" : 1 }'));
});

test("the key of a text does not normalise its characters", () => {
  // the same letter as one code point and as two
  expect(keyOf("\u00e9")).not.toBe(keyOf("e\u0301"));
  expect(keyOf("\ud800")).not.toBe(keyOf("\ud801"));
  expect(keyOf("a\u0000")).not.toBe(keyOf("a"));
});
