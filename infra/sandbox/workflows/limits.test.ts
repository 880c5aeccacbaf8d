import { expect, test } from "vitest";
import { createLogs, MAX_DEPTH, checkFits, nestsTooDeep } from "./limits.ts";

const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);

test("JSON may nest up to the limit, and brackets in strings do not count", () => {
  expect(nestsTooDeep(nested(MAX_DEPTH))).toBe(false);
  expect(nestsTooDeep(nested(MAX_DEPTH + 1))).toBe(true);
  expect(nestsTooDeep(`${'{"a":'.repeat(MAX_DEPTH + 1)}1${"}".repeat(MAX_DEPTH + 1)}`)).toBe(true);
  expect(nestsTooDeep(JSON.stringify(nested(1_000)))).toBe(false);
  expect(nestsTooDeep(JSON.stringify(`"\\${nested(1_000)}`))).toBe(false);
  expect(nestsTooDeep(`[${Array(1_000).fill("[]").join(",")}]`)).toBe(false);
});

test("the error for a value that does not fit names the value", () => {
  expect(checkFits("The thing", "[1]", 3)).toBe("[1]");
  expect(() => checkFits("The thing", "[12]", 3)).toThrow("The thing: longer than 3 characters of JSON.");
  expect(() => checkFits("The thing", nested(300), 1_000)).toThrow("The thing: not serialisable, it nests too deep.");
});

test("logs beyond the limit are dropped, and the last line says so", () => {
  const logs = createLogs();
  for (let n = 0; n < 5; n++) logs.add("x".repeat(100_000));
  expect(logs.lines).toEqual(["x".repeat(100_000), "x".repeat(100_000), expect.stringMatching(/not kept/)]);
});
