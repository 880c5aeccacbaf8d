import { DAY_MS } from "#events/units.ts";

/** The longest wait that is passed on: no provider means more, and clients would obey an absurd one. */
const MAX_WAIT_MS = DAY_MS;

/**
 * Milliseconds that a refused request should wait: from `retry-after-ms`, or from `Retry-After` as seconds or a date. Undefined if
 * neither is valid; at most a day.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const wait = readWait(headers, now);
  return wait === undefined ? undefined : Math.min(wait, MAX_WAIT_MS);
}

function readWait(headers: Headers, now: number): number | undefined {
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
