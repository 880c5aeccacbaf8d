import { nameSubject, type LimitName } from "#events/budget.ts";
import { fromPicodollars, toPicodollars } from "#events/money.ts";
import { DAY_MS } from "#events/units.ts";
import { nameOfWeek, periodsAt } from "./periods.ts";

/** What limits count. Bytes, documents and runs count while they exist; the others when they are spent. */
export type Unit = "requests" | "tokens" | "cost" | "pages" | "bytes" | "documents" | "runs";
/** Amounts by unit; cost in picodollars. */
export type Amounts = Readonly<Record<Unit, bigint>>;
export const NO_AMOUNTS: Amounts = {
  requests: 0n,
  tokens: 0n,
  cost: 0n,
  pages: 0n,
  bytes: 0n,
  documents: 0n,
  runs: 0n,
};

/** Amounts by subject. */
export type Sums = ReadonlyMap<string, Amounts>;
/** What each subject stores and runs, including what the read model does not contain yet. */
export interface HeldSums {
  get(subject: string): Amounts;
  keys(): Iterable<string>;
}

/** Adds amounts; with a `sign` of -1n, subtracts them. */
export function addAmounts(a: Amounts, b: Amounts, sign = 1n): Amounts {
  return {
    requests: a.requests + sign * b.requests,
    tokens: a.tokens + sign * b.tokens,
    cost: a.cost + sign * b.cost,
    pages: a.pages + sign * b.pages,
    bytes: a.bytes + sign * b.bytes,
    documents: a.documents + sign * b.documents,
    runs: a.runs + sign * b.runs,
  };
}

interface Measure {
  unit: Unit;
  per: "day" | "week" | "month" | "total" | "now";
  /** The name of the unit for people and clients. */
  words: string;
}
export const MEASURES: Record<LimitName, Measure> = {
  requests_per_day: { unit: "requests", per: "day", words: "requests" },
  requests_per_month: { unit: "requests", per: "month", words: "requests" },
  tokens_per_day: { unit: "tokens", per: "day", words: "tokens" },
  tokens_per_week: { unit: "tokens", per: "week", words: "tokens" },
  tokens_per_month: { unit: "tokens", per: "month", words: "tokens" },
  tokens_total: { unit: "tokens", per: "total", words: "tokens" },
  cost_per_day: { unit: "cost", per: "day", words: "US dollars" },
  cost_per_week: { unit: "cost", per: "week", words: "US dollars" },
  cost_per_month: { unit: "cost", per: "month", words: "US dollars" },
  cost_total: { unit: "cost", per: "total", words: "US dollars" },
  pages_per_day: { unit: "pages", per: "day", words: "pages" },
  pages_per_month: { unit: "pages", per: "month", words: "pages" },
  stored_bytes: { unit: "bytes", per: "now", words: "bytes" },
  documents: { unit: "documents", per: "now", words: "documents" },
  concurrent_runs: { unit: "runs", per: "now", words: "runs at a time" },
};

/** A comparable whole number: picodollars, or the amount itself. */
export const toUnits = (name: LimitName, amount: string | number): bigint =>
  MEASURES[name].unit === "cost" ? toPicodollars(String(amount)) : BigInt(amount);
export const fromUnits = (name: LimitName, units: bigint): string =>
  MEASURES[name].unit === "cost" ? fromPicodollars(units) : String(units);

/** When the current period ends; null: never, or when something is deleted or ends. */
export function periodEnd(name: LimitName, now: Date): Date | null {
  const { nextDay, nextWeek, nextMonth } = periodsAt(now);
  const ends = { day: nextDay, week: nextWeek, month: nextMonth, total: null, now: null };
  return ends[MEASURES[name].per];
}

/** Whether the period of a limit that contained `then` is over now. Called for every turn, and fast for two times of the same day. */
export function hasPeriodEnded(name: LimitName, then: number, now: number): boolean {
  if (Math.floor(then / DAY_MS) >= Math.floor(now / DAY_MS)) return false;
  const end = periodEnd(name, new Date(then));
  return end !== null && end.getTime() <= now;
}

/** `2026-11-23`, `2026-W48`, `2026-11` or `total`; for what is stored or running, the day. */
export function nameOfPeriod(name: LimitName, now: Date): string {
  const day = now.toISOString().slice(0, 10);
  const { per } = MEASURES[name];
  if (per === "week") return nameOfWeek(periodsAt(now).week);
  if (per === "month") return day.slice(0, 7);
  return per === "total" ? per : day;
}

/** A refusing limit and the subject of its budget. */
export interface SpentLimit {
  subject: string;
  name: LimitName;
  spent: string;
  at_most: string;
  ends_at: Date | null;
}

/** For people and clients: the budget, what was spent of it, and when it begins again. */
export function describeLimit({ subject, name, spent, at_most, ends_at }: SpentLimit): string {
  const used = `${spent} of ${at_most} ${MEASURES[name].words}`;
  if (name === "concurrent_runs") return `The limit ${name} of ${nameSubject(subject)} is reached: ${used} are used.`;
  const sentence = `The budget ${nameSubject(subject)} has used ${used} (${name})`;
  if (ends_at) return `${sentence}. It begins again at ${ends_at.toISOString()}.`;
  if (MEASURES[name].per === "total") return `${sentence}. It does not begin again: an administrator may raise it.`;
  return `${sentence}, and this does not fit. Delete something first.`;
}
