import { expect, test } from "vitest";
import { createLogs, DEEPEST, fitting, nestsTooDeep } from "./limits.ts";

const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);

test("JSON nests as deep as it may, and marks within strings do not count", () => {
  expect(nestsTooDeep(nested(DEEPEST))).toBe(false);
  expect(nestsTooDeep(nested(DEEPEST + 1))).toBe(true);
  expect(nestsTooDeep(`${'{"a":'.repeat(DEEPEST + 1)}1${"}".repeat(DEEPEST + 1)}`)).toBe(true);
  expect(nestsTooDeep(JSON.stringify(nested(1_000)))).toBe(false);
  expect(nestsTooDeep(JSON.stringify(`"\\${nested(1_000)}`))).toBe(false);
  expect(nestsTooDeep(`[${Array(1_000).fill("[]").join(",")}]`)).toBe(false);
});

test("what does not fit is named", () => {
  expect(fitting("The thing", "[1]", 3)).toBe("[1]");
  expect(() => fitting("The thing", "[12]", 3)).toThrow("The thing: longer than 3 characters of JSON.");
  expect(() => fitting("The thing", nested(300), 1_000)).toThrow("The thing: not serialisable, it nests too deep.");
});

test("logs end with a line that says so", () => {
  const logs = createLogs();
  for (let n = 0; n < 5; n++) logs.add("x".repeat(100_000));
  expect(logs.lines).toEqual(["x".repeat(100_000), "x".repeat(100_000), expect.stringMatching(/not kept/)]);
});
