const DAY = /^\d{4}-\d\d-\d\d$/;

/** The first moment of a day in the person's own time zone, or of a day after it. Undefined for anything that is no day. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (!day || !DAY.test(day)) return undefined;
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
