import { createHash } from "node:crypto";
import { Cron } from "croner";
import { dropOldest } from "./dropOldest.ts";
import type { ScheduleRule } from "./schedule.ts";

/* The times at which a schedule is due, as pure functions of its rule. Events carry their results, so a replay computes none. */

/** Maximum parsed cron expressions that a process caches: parsing one takes as long as computing a due time. */
const MAX_PARSED = 1_000;
const parsed = new Map<string, Cron>();

/**
 * Parses a cron expression of five fields, or a name such as `@daily`. A fixed time (no `*` and no step) that daylight saving skips
 * is due when the gap ends, and one that occurs twice is due the first time; `*` and steps follow real time, as in Vixie cron.
 * Throws if the expression or the time zone is invalid.
 */
export function parseCron(cron: string, time_zone: string): Cron {
  const key = `${time_zone} ${cron}`;
  const known = parsed.get(key);
  if (known) return known;
  // croner replaces ? by the current time, so processes would compute different times
  if (cron.includes("?")) throw new TypeError("? is not supported, use * instead");
  const created = new Cron(cron, { timezone: time_zone, mode: "5-part", fixedTimeRule: "no-wildcard" });
  parsed.set(key, created);
  dropOldest(parsed, MAX_PARSED);
  return created;
}

const BEFORE_ALL = new Date("2000-12-31T23:59:59Z");
const ONE_YEAR = "2001";
/** In each of these lists, every month begins on every day of the week. */
const COMMON_YEARS = "2001,2002,2003,2005,2006,2009,2010";
const LEAP_YEARS = "2004,2008,2012,2016,2020,2024,2028";
/** One month represents all months with as many days: a day that occurs in none of these years of it never occurs. */
const MONTHS_BY_LENGTH = [
  { month: 1, years: COMMON_YEARS, like: [1, 3, 5, 7, 8, 10, 12] },
  { month: 4, years: COMMON_YEARS, like: [4, 6, 9, 11] },
  { month: 2, years: COMMON_YEARS, like: [2] },
  { month: 2, years: LEAP_YEARS, like: [2] },
];

const datesOf = (day: string, month: string, weekday: string, years: string): Cron =>
  new Cron(`0 0 0 ${day} ${month} ${weekday} ${years}`, { utcOffset: 0, mode: "7-part" });

/**
 * Whether a valid cron expression fits any date. croner finds out by itself, but looks 400 years ahead. That takes up to a second of
 * computing if a day of the month and a weekday must both fit (`+`), and no time otherwise.
 */
export function fitsAnyDate(cron: string): boolean {
  if (!cron.includes("+")) return true;
  const [, , day, month, weekday] = cron.trim().split(/\s+/) as [string, string, string, string, string];
  const firstDays = datesOf("1", month, "*", ONE_YEAR).nextRuns(12, BEFORE_ALL);
  const months = new Set(firstDays.map((first) => first.getUTCMonth() + 1));
  return MONTHS_BY_LENGTH.some(
    ({ month: examined, years, like }) =>
      like.some((one) => months.has(one)) && datesOf(day, `${examined}`, weekday, years).nextRun(BEFORE_ALL) !== null,
  );
}

/** The next `count` due times after a moment, in order; fewer if the schedule ends. */
export function timesAfter(rule: ScheduleRule, after: Date, count: number): Date[] {
  if ("cron" in rule) return parseCron(rule.cron, rule.time_zone).nextRuns(count, after);
  if ("at" in rule) return Date.parse(rule.at) > after.getTime() ? [new Date(rule.at)] : [];
  const [from, step] = [Date.parse(rule.from), rule.every * 1_000];
  const first = Math.max(1, Math.floor((after.getTime() - from) / step) + 1);
  return Array.from({ length: count }, (_, n) => new Date(from + (first + n) * step));
}

/** The last `count` due times up to and including a moment, newest first. They may lie before the schedule began. */
export function timesUpTo(rule: ScheduleRule, until: Date, count: number): Date[] {
  if ("cron" in rule) return parseCron(rule.cron, rule.time_zone).previousRuns(count, new Date(until.getTime() + 1));
  if ("at" in rule) return Date.parse(rule.at) <= until.getTime() ? [new Date(rule.at)] : [];
  const [from, step] = [Date.parse(rule.from), rule.every * 1_000];
  const last = Math.floor((until.getTime() - from) / step);
  return Array.from({ length: Math.min(count, Math.max(0, last)) }, (_, n) => new Date(from + (last - n) * step));
}

/** A delay from 0 to `jitter_seconds` in milliseconds, always the same for one due time of a trigger. */
export function jitter(trigger_id: string, due: Date, jitter_seconds: number): number {
  if (jitter_seconds === 0) return 0;
  const hash = createHash("sha256").update(`${trigger_id} ${due.toISOString()}`).digest();
  return Math.floor((hash.readUInt32BE() / 2 ** 32) * jitter_seconds * 1_000);
}
