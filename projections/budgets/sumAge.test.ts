import { expect, test } from "vitest";
import { sumAgeLimit } from "./sumAge.ts";

test("sums are read again after a minute, or so late that reading them takes a hundredth of the time, and once an hour", () => {
  expect([5, 600, 3_000, 60_000].map(sumAgeLimit)).toEqual([60_000, 60_000, 300_000, 3_600_000]);
});
