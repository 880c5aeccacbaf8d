import { Cron } from "croner";

/* Converts between the form's choices of times and cron expressions of five fields. */

export const FREQUENCIES = {
  weekdays: "on weekdays",
  day: "every day",
  week: "every week",
  month: "every month",
  hour: "every hour",
  own: "as a cron expression",
} as const;
export type Frequency = keyof typeof FREQUENCIES;

export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

export interface ClockTime {
  frequency: Exclude<Frequency, "own">;
  /** "08:30". */
  time: string;
  /** 0 is Sunday. */
  weekday: number;
  /** 1 to 31. */
  day: number;
}

export function toCron({ frequency, time, weekday, day }: ClockTime): string {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  if (frequency === "hour") return `${minute} * * * *`;
  const days = { weekdays: "* * 1-5", day: "* * *", week: `* * ${weekday}`, month: `${day} * *` };
  return `${minute} ${hour} ${days[frequency]}`;
}

const NAMED: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const twoDigits = (text: string): string => text.padStart(2, "0");
const nameOfDay = (text: string): string => WEEKDAYS[Number(text) % 7]!;
const joinWords = (words: string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

/** The days that the last three fields name; undefined if there is no short sentence. */
function describeDays(day: string, month: string, weekday: string): string | undefined {
  if (month !== "*") return undefined;
  if (day === "*" && weekday === "*") return "every day";
  if (/^\d+$/.test(day) && weekday === "*") return `on day ${day} of every month`;
  if (day !== "*") return undefined;
  if (weekday === "1-5") return "on weekdays";
  const isList = /^[0-7](,[0-7])*$/.test(weekday);
  return isList ? `every ${joinWords(weekday.split(",").map(nameOfDay))}` : undefined;
}

/** A step of more than one. `*` and a step of one are the same. */
const STEP = /^\*\/([2-9]|\d{2,})$/;

/** "on weekdays at 08:30"; the expression itself if there is no short sentence. */
export function describeCron(cron: string): string {
  const text = cron.trim().toLowerCase();
  const fields = (NAMED[text] ?? text).split(/\s+/).map((field) => (field === "*/1" ? "*" : field));
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const days = describeDays(day, month, weekday);
  const minutes = STEP.exec(minute)?.[1];
  const hours = STEP.exec(hour)?.[1];
  if (days === undefined) return cron;
  const also = days === "every day" ? "" : ` ${days}`;
  if ((minutes ?? minute) && hour === "*" && (minutes || minute === "*"))
    return `every ${minutes ? `${minutes} minutes` : "minute"}${also}`;
  if (!/^\d+$/.test(minute)) return cron;
  if (hour === "*") return `every hour at minute ${minute}${also}`;
  if (hours) return `every ${hours} hours at minute ${minute}${also}`;
  return /^\d+$/.test(hour) ? `${days} at ${twoDigits(hour)}:${twoDigits(minute)}` : cron;
}

/** The next times of an expression, computed like the service does (events/scheduleTimes.ts). Throws for an invalid expression. */
export function nextTimes(cron: string, time_zone: string, after: Date, count: number): Date[] {
  if (cron.includes("?")) throw new TypeError("? is not supported, use * instead");
  return new Cron(cron, { timezone: time_zone, mode: "5-part", fixedTimeRule: "no-wildcard" }).nextRuns(count, after);
}
