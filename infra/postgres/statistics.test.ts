import { expect, test } from "vitest";
import { nextAnalysis } from "./statistics.ts";

test("tables are analyzed at 1,000 events, and again each time the log has grown fourfold", () => {
  expect([0, 999, 1_000, 3_999, 4_000, 5_000_000].map(nextAnalysis)).toEqual([
    1_000, 1_000, 4_000, 4_000, 16_000, 16_384_000,
  ]);
});
