import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import type { ScheduleRule } from "#events/schedule.ts";
import { fitsAnyDate, parseCron, timesAfter } from "#events/scheduleTimes.ts";
import { DAY_MS } from "#events/units.ts";
import { ApiError } from "./errors.ts";

const MAX_EVERY_SECONDS = 31_536_000;
/** Number of due times that are examined. With five fields, the shortest interval occurs within the first days that have a due time. */
const EXAMINED_TIMES = 60;
const YEAR_MS = 366 * DAY_MS;
/** Rarer due times are days apart, and take long to find. */
const EXAMINED_MS = 2 * YEAR_MS;
const MAX_YEARS_AHEAD = 10;

/** Exactly one of `cron`, `every` and `at`. `checkSchedule` checks that, and that the schedule can be due. */
export const ScheduleInput = z.strictObject(
  {
    cron: z
      .string()
      .trim()
      .max(100)
      .nullish()
      .describe("Five fields (minute, hour, day, month, weekday), or a name such as `@daily`."),
    time_zone: z
      .string()
      .max(100)
      .nullish()
      .describe("For `cron`: an IANA name such as `Europe/Berlin`. Default: UTC."),
    every: z.int().min(1).max(MAX_EVERY_SECONDS).nullish().describe("Seconds between two runs."),
    at: z.iso
      .datetime({ offset: true, error: "must be a time such as 2027-01-31T09:00:00Z" })
      .nullish()
      .describe("Once."),
  },
  { error: (issue) => (issue.code === "invalid_type" ? "must be an object with cron, every or at" : undefined) },
);

/** A schedule's rule in an answer. */
export const ScheduleOutput = z.union([
  z.object({ cron: z.string(), time_zone: z.string() }),
  z.object({ every: z.int() }),
  z.object({ at: z.iso.datetime() }),
]);

/** Leaves out `from`, the internal start of the intervals. */
export const presentRule = (rule: ScheduleRule): z.infer<typeof ScheduleOutput> =>
  "every" in rule ? { every: rule.every } : rule;

const refuse = (param: string, why: string) => new ApiError("invalid_schedule", `${param}: ${why}`, { param });

function requireTimeZone(time_zone: string): string {
  try {
    // offsets such as +02:00 have no daylight saving time
    if (!/^[A-Za-z]/.test(time_zone)) throw new RangeError("not a name");
    new Intl.DateTimeFormat("en", { timeZone: time_zone });
    return time_zone;
  } catch {
    throw refuse("schedule.time_zone", `${time_zone} is no time zone; use an IANA name such as Europe/Berlin.`);
  }
}

/** croner's messages count months and days from 0 (month 13 is "invalid 12"), so we name the allowed ranges instead. */
const RANGES: Readonly<Record<string, string>> = {
  minute: "minutes are 0 to 59",
  hour: "hours are 0 to 23",
  day: "days are 1 to 31",
  month: "months are 1 to 12, or names such as JAN",
  dayOfWeek: "weekdays are 0 (Sunday) to 7 (Sunday), or names such as MON",
};
const FIVE_FIELDS =
  "must be five fields such as 0 9 * * 1-5 (minute, hour, day, month, weekday), or a name such as @daily";

const neverFires = () => refuse("schedule.cron", "no date fits it, so it never fires.");

/** Removes the class name with which croner's messages start. */
function explain(error: unknown): string {
  const message = (error as Error).message.replace(/^CronPattern: /, "");
  const field = /^Invalid value for (\w+)/.exec(message)?.[1];
  const reason = /5-part|NaN|space separated/.test(message) ? FIVE_FIELDS : (RANGES[field ?? ""] ?? message);
  return reason.replace(/\.?$/, ".");
}

function readCron(cron: string, time_zone: string): ScheduleRule {
  const rule = { cron: cron.replace(/\s+/g, " "), time_zone: requireTimeZone(time_zone) };
  try {
    parseCron(rule.cron, rule.time_zone);
  } catch (error) {
    throw refuse("schedule.cron", explain(error));
  }
  if (!fitsAnyDate(rule.cron)) throw neverFires();
  return rule;
}

function readAt(at: string, now: Date): ScheduleRule {
  const time = Date.parse(at);
  if (time <= now.getTime()) throw refuse("schedule.at", "must be in the future.");
  if (time > now.getTime() + MAX_YEARS_AHEAD * YEAR_MS)
    throw refuse("schedule.at", `must be at most ${MAX_YEARS_AHEAD} years ahead.`);
  return { at: new Date(time).toISOString() };
}

function readRule({ cron, time_zone, every, at }: z.infer<typeof ScheduleInput>, now: Date): ScheduleRule {
  const given = [cron, every, at].filter((rule) => rule !== null && rule !== undefined);
  if (given.length !== 1) throw refuse("schedule", "give exactly one of cron, every and at.");
  if (typeof time_zone === "string" && typeof cron !== "string")
    throw refuse("schedule.time_zone", "belongs to cron; leave it out.");
  if (typeof cron === "string") return readCron(cron, time_zone ?? "UTC");
  return typeof every === "number" ? { every, from: now.toISOString() } : readAt(at!, now);
}

/** The next due times, at least two if there are as many. */
function examineTimes(rule: ScheduleRule, now: Date): Date[] {
  const times = timesAfter(rule, now, 2);
  for (let last = times[1]; last && times.length < EXAMINED_TIMES; last = times.at(-1)!) {
    const [next] = last.getTime() < now.getTime() + EXAMINED_MS ? timesAfter(rule, last, 1) : [];
    if (!next) break;
    times.push(next);
  }
  return times;
}

/** The shortest interval between two due times, in seconds; Infinity if there is only one. */
function shortestInterval(rule: ScheduleRule, times: Date[]): number {
  if ("every" in rule) return rule.every;
  const gaps = times.slice(1).map((time, n) => (time.getTime() - times[n]!.getTime()) / 1_000);
  return Math.min(...gaps);
}

function requireJitterWithin(jitter_seconds: number, interval: number): void {
  if (jitter_seconds >= interval)
    throw refuse(
      "jitter_seconds",
      `is ${jitter_seconds}, and must be less than the ${interval} seconds between two runs.`,
    );
}

/** Throws 400 `invalid_schedule` if the jitter is too long for the intervals of the schedule's own rule. */
export function checkJitter(rule: ScheduleRule, jitter_seconds: number): void {
  const times = examineTimes(rule, new Date(currentTime()));
  requireJitterWithin(jitter_seconds, shortestInterval(rule, times));
}

/**
 * Reads the rule of a body. Throws 400 `invalid_schedule`, which names the field, if an expression or time zone is invalid, the
 * schedule is never due, it is due more often than every `min_seconds`, or the jitter exceeds the interval.
 */
export function checkSchedule(
  when: z.infer<typeof ScheduleInput>,
  { min_seconds, jitter_seconds }: { min_seconds: number; jitter_seconds: number },
): ScheduleRule {
  const now = new Date(currentTime());
  const rule = readRule(when, now);
  const times = examineTimes(rule, now);
  if (times.length === 0) throw neverFires();
  const interval = shortestInterval(rule, times);
  const field = "every" in rule ? "schedule.every" : "schedule.cron";
  if (interval < min_seconds) throw refuse(field, `must leave at least ${min_seconds} seconds between two runs.`);
  requireJitterWithin(jitter_seconds, interval);
  return rule;
}
