const WEEK_S = 7 * 24 * 60 * 60;
/** Statuses whose Retry-After header is used. */
const LIMITED_STATUS = new Set([429, 503]);

interface FetchAnswer {
  ok: boolean;
  value?: { status: number; headers: [string, string][] };
}

/** Seconds of a Retry-After header, which is a number or a date. */
function parseRetryAfter(header: string): number | null {
  const count = header.trim() === "" ? Number.NaN : Number(header);
  const seconds = Number.isNaN(count) ? (Date.parse(header) - Date.now()) / 1_000 : count;
  return Number.isFinite(seconds) ? seconds : null;
}

/**
 * Seconds that the last answer to a fetch asks to wait; null if it does not ask. A failed fetch changes nothing. `json`: the answer
 * as the script gets it.
 */
export function nextRetryAfter(previous: number | null, json: string): number | null {
  const { value } = JSON.parse(json) as FetchAnswer;
  if (!value) return previous;
  const header = value.headers.find(([name]) => name.toLowerCase() === "retry-after")?.[1];
  return LIMITED_STATUS.has(value.status) && header !== undefined ? parseRetryAfter(header) : null;
}

/** Milliseconds to wait, from 0 to a week. */
export const limitRetryAfter = (seconds: number | null): number | null =>
  seconds === null ? null : Math.round(1_000 * Math.min(Math.max(seconds, 0), WEEK_S));
