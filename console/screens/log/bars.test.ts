import { expect, test } from "vitest";
import { barsOf } from "./bars.ts";

test("hours without events get empty bars between the hours with events", () => {
  const data = [
    { at: "2026-01-01T05:00:00.000Z", count: 2, before: "a" },
    { at: "2026-01-01T07:00:00.000Z", count: 1, before: "b" },
  ];
  expect(barsOf({ bar_seconds: 3_600, data })).toEqual([
    { at: "2026-01-01T05:00:00.000Z", count: 2, before: "a" },
    { at: "2026-01-01T06:00:00.000Z", count: 0, before: undefined },
    { at: "2026-01-01T07:00:00.000Z", count: 1, before: "b" },
  ]);
  expect(barsOf({ bar_seconds: 1, data: [] })).toEqual([]);
});
