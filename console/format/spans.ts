/* Converts durations to and from text such as "30 days". */

const UNITS = { year: 31_536_000, week: 604_800, day: 86_400, hour: 3_600, minute: 60, second: 1 } as const;
/** Units for display. Weeks and years are accepted, and shown as days. */
const SHOWN = ["day", "hour", "minute", "second"] as const;

const SPAN = /^(\d{1,9})\s*(year|week|day|hour|minute|second)s?$/i;

/** A pattern for the browser's validation of a field. */
export const SPAN_PATTERN = "\\s*\\d{1,9}\\s*(year|week|day|hour|minute|second)s?\\s*";

/** Seconds of "30 days", "2 weeks" or "90 minutes"; undefined for anything else and for zero. */
export function parseSpan(text: string): number | undefined {
  const [, count = "", unit = ""] = SPAN.exec(text.trim()) ?? [];
  const seconds = Number(count) * (UNITS[unit.toLowerCase() as keyof typeof UNITS] ?? 0);
  return seconds > 0 ? seconds : undefined;
}

/** "30 days": in the largest unit without a fraction. */
export function formatSpan(seconds: number): string {
  const unit = SHOWN.find((one) => seconds % UNITS[one] === 0) ?? "second";
  const count = seconds / UNITS[unit];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
