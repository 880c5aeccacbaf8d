import { DAY_MS } from "#events/units.ts";

const THURSDAY = 3;

/** The week of ISO 8601, `2026-W48`: that of its Thursday. `week`: when it begins. */
export function nameOfWeek(week: Date): string {
  const thursday = week.getTime() + THURSDAY * DAY_MS;
  const year = new Date(thursday).getUTCFullYear();
  const n = 1 + Math.floor((thursday - Date.UTC(year, 0)) / (7 * DAY_MS));
  return `${year}-W${String(n).padStart(2, "0")}`;
}

/** Moments at which a day, a week (on Monday) and a month of UTC begin, and the next ones. */
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
