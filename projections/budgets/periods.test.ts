import { expect, test } from "vitest";
import { nameOfPeriod } from "./limits.ts";
import { periodsAt } from "./periods.ts";

test.each([
  ["2026-11-26T08:00:00Z", "2026-11-23", "2026-W48"],
  ["2026-11-29T23:59:59.999Z", "2026-11-23", "2026-W48"],
  ["2026-11-30T00:00:00Z", "2026-11-30", "2026-W49"],
  ["2027-01-01T00:00:00Z", "2026-12-28", "2026-W53"],
  ["2024-12-30T12:00:00Z", "2024-12-30", "2025-W01"],
  ["2026-01-01T00:00:00Z", "2025-12-29", "2026-W01"],
])("the week of %s begins on %s and is %s", (at, monday, name) => {
  const now = new Date(at);
  const { week, nextWeek } = periodsAt(now);
  expect(week.toISOString()).toBe(`${monday}T00:00:00.000Z`);
  expect(nextWeek.getTime() - week.getTime()).toBe(7 * 24 * 3_600_000);
  expect(nameOfPeriod("cost_per_week", now)).toBe(name);
});

test("periods have names that sort by time, and all time has one", () => {
  const now = new Date("2026-11-26T08:00:00Z");
  const names = ["cost_per_day", "cost_per_month", "cost_total", "documents"] as const;
  expect(names.map((name) => nameOfPeriod(name, now))).toEqual(["2026-11-26", "2026-11", "total", "2026-11-26"]);
});
