/**
 * How long a refused request should wait, in milliseconds: `retry-after-ms`, or `Retry-After` as seconds or as a date. Undefined if
 * neither can be read. The caller limits the wait.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const milliseconds = parseNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const raw = headers.get("retry-after");
  const seconds = parseNumber(raw);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse accepts "-5" and "next 7"; an HTTP date starts with the name of a day
  const date = raw !== null && /^[A-Z][a-z]{2}/.test(raw) ? Date.parse(raw) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const parseNumber = (raw: string | null): number | undefined =>
  raw !== null && /^\s*\d{1,12}(\.\d+)?\s*$/.test(raw) ? Number(raw) : undefined;
