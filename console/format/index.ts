/* Formats times, numbers and names. No other module does. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = [
  [DAY, "day"],
  [HOUR, "hour"],
  [MINUTE, "minute"],
  [10 * SECOND, "second"],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const number = new Intl.NumberFormat("en");

/** The start of a moment's day in the person's time zone, in days. */
function dayOf(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;
}

/** "just now", "20 seconds ago", "in 2 days". Days are those of the calendar: 40 hours from noon on end the day after tomorrow. */
export function formatRelative(moment: string, now: number): string {
  const ms = Date.parse(moment) - now;
  const found = UNITS.find(([least]) => Math.abs(ms) >= least);
  // the page's clock lags up to ten seconds
  if (!found) return "just now";
  const [least, unit] = found;
  if (unit === "day") return relative.format(dayOf(now + ms) - dayOf(now), unit);
  return relative.format(Math.trunc(ms / (unit === "second" ? SECOND : least)), unit);
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
/** "26 Nov 2026", in the time zone of the person. */
export const formatDay = (moment: string): string => day.format(new Date(moment));

/** "26 Nov 2026, 03:36:39 UTC": in the time zone of the person, which is named. */
export const formatExact = (moment: string): string => exact.format(new Date(moment));

const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** A message of the service with its times in the person's time zone. */
export const withReadableTimes = (message: string): string => message.replace(MOMENT, formatExact);

/** "Fri 27 Nov 2026, 08:30": a future time, in a time zone if one is given. */
export const formatDue = (moment: Date, timeZone?: string): string =>
  new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  }).format(moment);

/** "12 ms", "3.4 s", "15 s", "2 min 5 s", "3 h", "2 d 4 h": zero parts are left out. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1).replace(/\.0$/, "")} s`;
  const [[large, one], [small, two]] =
    ms < HOUR
      ? ([
          [MINUTE, "min"],
          [SECOND, "s"],
        ] as const)
      : ms < DAY
        ? ([
            [HOUR, "h"],
            [MINUTE, "min"],
          ] as const)
        : ([
            [DAY, "d"],
            [HOUR, "h"],
          ] as const);
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${one}${rest > 0 ? ` ${rest} ${two}` : ""}`;
}

export const formatNumber = (value: number): string => number.format(value);

const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
/** For amounts below one cent. */
const parts = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumSignificantDigits: 2 });

/** "$12.30", "$0.50", "$0.0012", or "no cost known". */
export function formatCost(cost: string | null): string {
  if (cost === null) return "no cost known";
  const amount = Number(cost);
  return (amount !== 0 && Math.abs(amount) < 0.01 ? parts : dollars).format(amount);
}

const exactDollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 20 });

/** "$0.50", "$0.075": with every digit, as the price was set. */
export const formatPrice = (price: string): string => exactDollars.format(Number(price));

/** "1 run", "12 runs". */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** The last part of a UUID. The first part is a time, which neighbouring ids share. */
export const shortId = (id: string): string => id.slice(-8);

/** Indented JSON. */
export const formatJson = (value: unknown): string => JSON.stringify(value, null, 2) ?? "undefined";

const BYTE_UNITS = ["B", "kB", "MB", "GB"] as const;

/** "12 B", "3.4 MB". */
export function formatBytes(bytes: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1_000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[power]}`;
}

/** The value of a JSON text; the text itself if it is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
