import { DAY_MS } from "#events/units.ts";

const THURSDAY = 3;

/** The ISO 8601 week, such as `2026-W48`: the year is that of its Thursday. `week`: its beginning. */
export function nameOfWeek(week: Date): string {
  const thursday = week.getTime() + THURSDAY * DAY_MS;
  const year = new Date(thursday).getUTCFullYear();
  const n = 1 + Math.floor((thursday - Date.UTC(year, 0)) / (7 * DAY_MS));
  return `${year}-W${String(n).padStart(2, "0")}`;
}

/** When the current day, week (from Monday) and month in UTC began, and when the next ones begin. */
export function periodsAt(now: Date) {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const monday = day - ((now.getUTCDay() + 6) % 7);
  return {
    week: new Date(Date.UTC(year, month, monday)),
    nextWeek: new Date(Date.UTC(year, month, monday + 7)),
    month: new Date(Date.UTC(year, month)),
    day: new Date(Date.UTC(year, month, day)),
    nextDay: new Date(Date.UTC(year, month, day + 1)),
    nextMonth: new Date(Date.UTC(year, month + 1)),
  };
}
