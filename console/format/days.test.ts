import { afterEach, expect, test, vi } from "vitest";
import { coverUtcDays, localDay, startOfDay } from "./days.ts";

afterEach(() => vi.unstubAllEnvs());

test.each([
  ["UTC", { from: "2026-11-01", to: "2026-11-02" }],
  ["America/Los_Angeles", { from: "2026-10-31", to: "2026-11-02" }],
  ["Asia/Tokyo", { from: "2026-11-01", to: "2026-11-03" }],
])("in %s, days of UTC are covered by whole days", (zone, expected) => {
  vi.stubEnv("TZ", zone);
  const days = coverUtcDays({ from: "2026-11-01", to: "2026-11-02" });
  expect(days).toEqual(expected);
  expect(Date.parse(startOfDay(days.from)!)).toBeLessThanOrEqual(Date.parse("2026-11-01T00:00:00Z"));
  expect(Date.parse(startOfDay(days.to, 1)!)).toBeGreaterThanOrEqual(Date.parse("2026-11-03T00:00:00Z"));
});

test("a missing or invalid day stays without a limit", () => {
  expect(coverUtcDays({})).toEqual({ from: undefined, to: undefined });
  expect(coverUtcDays({ from: "nonsense", to: "2026-13-40" })).toEqual({ from: undefined, to: undefined });
});

test("a day is named like in an address", () => {
  expect(localDay(new Date(2026, 0, 5, 12))).toBe("2026-01-05");
});
