const DAY = /^\d{4}-\d\d-\d\d$/;

/** The start of a day in the person's time zone, or of a later day. Undefined for an invalid day. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (!day || !DAY.test(day)) return undefined;
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
