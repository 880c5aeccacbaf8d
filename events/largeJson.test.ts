import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { encodeInPieces, encodeLargeJson, isLargeJson, jsonWithin, measureJson, writeInPieces } from "./largeJson.ts";

const long = (text: string): string => text.repeat(Math.ceil(100_000 / text.length));

test.each([
  ["texts with escapes", [long('"\\\n\u2028'), long("ü🎈")]],
  ["a lone surrogate at the end of a part", `${"x".repeat(64 * 1024 - 1)}\ud83c!${long("y")}`],
  ["a surrogate pair across two parts", `${"x".repeat(64 * 1024 - 1)}🎈${long("y")}`],
  ["objects in lists", { list: Array.from({ length: 5_000 }, (_, n) => ({ n, text: "abc", none: undefined })) }],
  [
    "values that have no JSON",
    { a: undefined, b: [undefined, () => 1, long("x")], c: new Date(0), d: () => 1, e: Number.NaN },
  ],
  ["only short values", { empty: {}, list: [], nested: [[[{}]]] }],
])("%s: written as JSON.stringify does", async (_title, value) => {
  expect((await Array.fromAsync(writeInPieces(value))).join("")).toBe(JSON.stringify(value));
  expect((await encodeLargeJson(value)).toString()).toBe(Buffer.from(JSON.stringify(value)).toString());
});

test("a value is large from 64 KiB on", () => {
  expect([isLargeJson({ text: "x".repeat(60_000) }), isLargeJson({ text: "x".repeat(70_000) })]).toEqual([false, true]);
});

test("pieces are short, also where a text gets six times as long", async () => {
  const pieces = await Array.fromAsync(writeInPieces(["\u0001".repeat(1_000_000), 1]));
  expect(pieces.length).toBeGreaterThan(5);
  for (const { length } of pieces) expect(length).toBeLessThan(1024 * 1024);
});

test("any value is written as JSON.stringify does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), async (value, copies) => {
      const large = { value, filler: Array.from({ length: copies }, () => long("z")), again: [value] };
      expect((await encodeLargeJson(large)).toString()).toBe(JSON.stringify(large));
    }),
  );
});

test("the event loop goes round while a large value is written, and every part is counted", async () => {
  const value = Array.from({ length: 300 }, () => ({ text: long('"x"') }));
  let [rounds, isOver, counted] = [0, false, 0];
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const pieces = await encodeInPieces(value, (bytes) => (counted += bytes));
  isOver = true;
  expect(rounds).toBeGreaterThan(3);
  expect(counted).toBe(Buffer.concat(pieces).length);
});

test("short items of a list are written together, in pieces", async () => {
  const models = Array.from({ length: 10_000 }, (_, n) => ({ id: `mine/model-${n}`, object: "model", created: n }));
  const value = { data: [...models, long("x"), () => 1, undefined, new Date(0), ...models] };
  const pieces = await Array.fromAsync(writeInPieces(value));
  expect(pieces.join("")).toBe(JSON.stringify(value));
  for (const { length } of pieces) expect(length).toBeLessThan(256 * 1024);
  const stringify = vi.spyOn(JSON, "stringify");
  await encodeInPieces(value);
  expect(stringify.mock.calls.length).toBeLessThan(100);
  stringify.mockRestore();
});

test("writing ends with the first part that is refused", async () => {
  let parts = 0;
  const refuse = () => {
    parts += 1;
    if (parts === 3) throw new Error("full");
  };
  const texts = Array.from({ length: 20 }, () => long("a"));
  await expect(encodeInPieces(texts, refuse)).rejects.toThrow("full");
  expect(parts).toBe(3);
});

test("measuring a large value ends early", () => {
  let read = 0;
  const items = Array.from({ length: 10_000 }, () => ({
    get text() {
      read += 1;
      return "x".repeat(1_000);
    },
  }));
  expect(measureJson(items)).toBeGreaterThan(64 * 1024);
  expect(read).toBeLessThan(100);
});

test("any value is written if its JSON is not longer than the limit", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      expect(jsonWithin(value, json.length)).toBe(json);
      expect(jsonWithin(value, json.length - 1)).toBeUndefined();
    }),
  );
});

test("a value that is much too long is not written", () => {
  const value = { text: "x".repeat(60_000_000) };
  expect(jsonWithin({ text: "x" }, 1_000)).toBe('{"text":"x"}');
  expect(computingTime(() => expect(jsonWithin(value, 1_000_000)).toBeUndefined())).toBeLessThan(20);
});
