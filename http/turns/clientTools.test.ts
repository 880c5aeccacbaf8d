import { expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { checkClientTools, readClientTool } from "./clientTools.ts";
import { openPatternBudget } from "./schemaLimits.ts";

const check = (description: string) =>
  checkClientTools([readClientTool({ name: "a", description }, "tools[0]", openPatternBudget())], [], () => "");

test("tools of up to 256 KiB are accepted", () => {
  expect(check("x".repeat(250_000))).toMatchObject([{ name: "a" }]);
  expect(() => check("ü".repeat(150_000))).toThrow("tools may take at most 262144 bytes of JSON");
});

test("tools of 60 MB are refused without writing their JSON", () => {
  const description = "x".repeat(60_000_000);
  expect(computingTime(() => expect(() => check(description)).toThrow("at most"))).toBeLessThan(20);
});
