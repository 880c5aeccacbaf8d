const DAY = /^\d{4}-\d\d-\d\d$/;

/** The start of a day in the person's time zone, or of a later day. Undefined for an invalid day. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (!day || !DAY.test(day)) return undefined;
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The day of a moment in the person's time zone: `2026-11-29`. */
export function localDay(moment: Date): string {
  const parts = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

const DAY_MS = 24 * 60 * 60 * 1_000;

interface Days {
  from?: string | undefined;
  to?: string | undefined;
}

/** The days in the person's time zone that cover days of UTC; both are inclusive. Undefined for an invalid or missing day. */
export function coverUtcDays({ from, to }: Days): Days {
  const cover = (day: string | undefined, later: number) => {
    const at = day && DAY.test(day) ? Date.parse(`${day}T00:00:00Z`) + later : Number.NaN;
    return Number.isNaN(at) ? undefined : localDay(new Date(at));
  };
  return { from: cover(from, 0), to: cover(to, DAY_MS - 1) };
}
