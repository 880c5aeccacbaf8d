import { expect, test } from "vitest";
import { formatRelative } from "./index.ts";

/** In the time zone of the person. */
const at = (day: number, hour: number) => new Date(2026, 10, day, hour);
const read = (to: Date, from: Date) => formatRelative(to.toISOString(), from.getTime());

test("days are counted by the calendar", () => {
  expect(read(at(12, 4), at(10, 12))).toBe("in 2 days");
  expect(read(at(11, 13), at(10, 12))).toBe("tomorrow");
  expect(read(at(8, 20), at(10, 12))).toBe("2 days ago");
  expect(read(at(9, 11), at(10, 12))).toBe("yesterday");
});

test("shorter times are counted in hours, minutes and seconds", () => {
  const now = at(10, 12);
  const after = (ms: number) => read(new Date(now.getTime() + ms), now);
  expect([after(23 * 3_600_000), after(-90_000), after(-20_000), after(-9_000)]).toEqual([
    "in 23 hours",
    "1 minute ago",
    "20 seconds ago",
    "just now",
  ]);
});
