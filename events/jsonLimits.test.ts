import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findExcess } from "./jsonLimits.ts";

const bytes = (text: string) => Buffer.from(text);
const objectWith = (names: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: names }, (_, n) => [n, n])));

describe("the scan of JSON before parsing", () => {
  test.each([
    ["64 levels", "[".repeat(64) + "]".repeat(64), undefined],
    ["65 levels", "[".repeat(65), "nests deeper than 64 levels"],
    ["brackets in strings", JSON.stringify("[{".repeat(100)), undefined],
    ["brackets after an escaped quote in a string", JSON.stringify(`\\"${"[".repeat(100)}`), undefined],
    ["a string without end", `"${"[".repeat(100)}`, undefined],
    ["a backslash at the very end", '"\\', undefined],
    ["more than 250,000 tokens", `[${"1,".repeat(250_001)}`, "has more than 250000 values"],
    ["24,900 names", objectWith(24_900), undefined],
    ["25,000 names", objectWith(25_000), "has more than 250000 values"],
  ])("gives for $0: $2", (_name, text, excess) => expect(findExcess(bytes(text))).toBe(excess));

  test("does not add up brackets of the same level", () => {
    expect(findExcess(bytes(`[${"[],".repeat(1_000)}[]]`))).toBeUndefined();
  });

  test("finds the depth of any JSON", () => {
    const depth = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 60, max: 66 }), (value, wraps) => {
        const wrapped = "[".repeat(wraps) + JSON.stringify(value) + "]".repeat(wraps);
        expect(findExcess(bytes(wrapped)) === undefined).toBe(wraps + depth(value) <= 64);
      }),
    );
  });
});
