const WEEK_S = 7 * 24 * 60 * 60;
/** Answers that ask to be left alone for a while. */
const LIMITED = new Set([429, 503]);

interface Fetched {
  ok: boolean;
  value?: { status: number; headers: [string, string][] };
}

/** Seconds of a Retry-After header: a count, or a date. */
function secondsOf(header: string): number | null {
  const count = header.trim() === "" ? Number.NaN : Number(header);
  const seconds = Number.isNaN(count) ? (Date.parse(header) - Date.now()) / 1_000 : count;
  return Number.isFinite(seconds) ? seconds : null;
}

/** How long the other side of the last fetch asked to be left alone. */
export function createRetryAfter() {
  let seconds: number | null = null;
  return {
    seconds: (): number | null => seconds,
    /** Takes the answer to a fetch, as it goes to the script. */
    heed(json: string): void {
      const { value } = JSON.parse(json) as Fetched;
      if (!value) return;
      const header = value.headers.find(([name]) => name.toLowerCase() === "retry-after")?.[1];
      seconds = LIMITED.has(value.status) && header !== undefined ? secondsOf(header) : null;
    },
  };
}

/** Milliseconds to wait: none below 0, at most a week. */
export const delayOf = (seconds: number | null): number | null =>
  seconds === null ? null : Math.round(1_000 * Math.min(Math.max(seconds, 0), WEEK_S));
