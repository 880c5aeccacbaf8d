import { expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { findSchemaFault, openPatternBudget } from "./schemaLimits.ts";

/** Properties that each have a pattern of 1,000 characters. */
const withPatterns = (count: number) => {
  const property = (_: unknown, n: number) => [`p${n}`, { pattern: ".".repeat(1_000) }];
  return { type: "object", properties: Object.fromEntries(Array.from({ length: count }, property)) };
};

test("the patterns of a schema have a limit together", () => {
  expect(findSchemaFault(withPatterns(32), openPatternBudget())).toBeUndefined();
  expect(findSchemaFault(withPatterns(33), openPatternBudget())).toContain("32768 characters together");
});

test("the schemas of a request share the limit", () => {
  const patterns = openPatternBudget();
  expect(findSchemaFault(withPatterns(20), patterns)).toBeUndefined();
  expect(findSchemaFault(withPatterns(20), patterns)).toContain("has too many patterns");
});

test("two thousand patterns are refused without a check of each", () => {
  const schema = withPatterns(2_000);
  const check = () => expect(findSchemaFault(schema, openPatternBudget())).toContain("has too many patterns");
  expect(computingTime(check)).toBeLessThan(50);
});
