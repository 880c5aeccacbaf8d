/**
 * What a refused request is asked to wait, in milliseconds: `retry-after-ms`, or `Retry-After` as seconds or as a date.
 * Undefined where there is none or it cannot be read; whoever waits sets the limit.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const milliseconds = number(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const raw = headers.get("retry-after");
  const seconds = number(raw);
  if (seconds !== undefined) return seconds * 1_000;
  /* Date.parse reads "-5" and "next 7" as dates; a real one begins with the day's name. */
  const date = raw !== null && /^[A-Z][a-z]{2}/.test(raw) ? Date.parse(raw) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const number = (raw: string | null): number | undefined =>
  raw !== null && /^\s*\d{1,12}(\.\d+)?\s*$/.test(raw) ? Number(raw) : undefined;
