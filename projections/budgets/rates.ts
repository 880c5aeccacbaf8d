import { EACH_USER, RateName, type BudgetStep } from "#events/budget.ts";
import type { BudgetRow } from "./query.ts";
import { countedAs, subjectsOf, USER_SUBJECT, type Spender } from "./status.ts";
import type { Rates, TurnCounts } from "./turnCounts.ts";

/** What a new turn adds. */
export const addedBy = ({ tokens, streamed }: { tokens: number; streamed: boolean }): Rates => ({
  requests_per_minute: 1,
  tokens_per_minute: tokens,
  concurrent_turns: 1,
  concurrent_streams: streamed ? 1 : 0,
});

/** A limit of a minute or of this moment, and what is used of it. */
export interface RateStatus {
  /** Of the budget. */
  subject: string;
  /** That is counted: of `each-user`, the one user. */
  counted: string;
  name: RateName;
  hard: boolean;
  at_most: number;
  used: number;
  /** When all of it has left the window. */
  ends_at: Date;
}

export const isRateLimited = ({ limits }: BudgetRow): boolean =>
  RateName.options.some((name) => limits[name] !== undefined);

function statusesOf({ subject, limits, hard }: BudgetRow, counted: string, counts: TurnCounts, now: number) {
  const used = counts.used(counted, now);
  return RateName.options.flatMap((name): RateStatus[] => {
    const at_most = limits[name];
    if (at_most === undefined) return [];
    const ends_at = new Date(now + counts.freeIn(counted, name, used[name], now));
    return [{ subject, counted, name, hard, at_most, used: used[name], ends_at }];
  });
}

/** The limits that a turn counts for. */
export function ratesOf(budgets: BudgetRow[], spender: Spender, counts: TurnCounts, now: number): RateStatus[] {
  const subjects = subjectsOf(spender);
  return budgets.flatMap((budget) => {
    const counted = countedAs(budget, subjects);
    return counted === undefined ? [] : statusesOf(budget, counted, counts, now);
  });
}

/** All limits, for people: of `each-user`, the user that has used most, limit by limit. */
export function allRates(budgets: BudgetRow[], counts: TurnCounts, now: number): RateStatus[] {
  const users = [...counts.subjects()].filter((subject) => subject.startsWith(USER_SUBJECT));
  return budgets.filter(isRateLimited).flatMap((budget) => {
    if (budget.subject !== EACH_USER) return statusesOf(budget, budget.subject, counts, now);
    return users.reduce(
      (most, user) =>
        statusesOf(budget, user, counts, now).map((one, n) => (one.used > most[n]!.used ? one : most[n]!)),
      statusesOf(budget, EACH_USER, counts, now),
    );
  });
}

/** The share of a limit that a process may give out before it hears of the others. */
export interface Share {
  /** Processes that start turns of the organization. */
  processes: number;
  /** What this process has admitted of the subject since it heard all others. */
  admitted(counted: string): Rates;
  /** Picodollars that it has reserved since then. */
  reserved(counted: string): bigint;
}

/** `wait`: the limit has room, but the share of this process is given out. */
type RateDecision = { kind: "admit" } | { kind: "wait" } | { kind: "refuse"; by: RateStatus };

/** A turn whose estimate alone exceeds the limit begins when nothing else is counted: estimates are rough. */
const isFull = ({ name, used, at_most }: RateStatus, added: Rates): boolean =>
  used >= at_most || (used > 0 && used + added[name] > at_most);
/** A turn that is no stream is none of the limit's business. */
const concerns = ({ name }: RateStatus, added: Rates): boolean => name !== "concurrent_streams" || added[name] > 0;

function isShareGivenOut({ name, used, at_most, counted }: RateStatus, added: Rates, share: Share): boolean {
  const admitted = share.admitted(counted)[name];
  const left = at_most - (used - admitted);
  return admitted > 0 && admitted + added[name] > Math.ceil(left / share.processes);
}

/** Whether a turn may begin now. */
export function decideRates(rates: RateStatus[], added: Rates, share: Share): RateDecision {
  const hard = rates.filter((rate) => rate.hard && concerns(rate, added));
  const by = hard.find((rate) => isFull(rate, added));
  if (by) return { kind: "refuse", by };
  const mustWait = share.processes > 1 && hard.some((rate) => isShareGivenOut(rate, added, share));
  return { kind: mustWait ? "wait" : "admit" };
}

const least = (rates: RateStatus[], name: RateName): RateStatus | undefined =>
  rates.reduce<RateStatus | undefined>(
    (found, rate) =>
      rate.name === name && (!found || rate.at_most - rate.used < found.at_most - found.used) ? rate : found,
    undefined,
  );

/** The headers of OpenAI's API, of the limits that have least left. Seconds until a limit is whole again are at most a minute. */
export function rateHeaders(rates: RateStatus[], now: number): Record<string, string> {
  const names = { requests: "requests_per_minute", tokens: "tokens_per_minute" } as const;
  const headers = Object.entries(names).flatMap(([unit, name]) => {
    const rate = least(rates, name);
    if (!rate) return [];
    const reset = Math.ceil((rate.ends_at.getTime() - now) / 1000);
    return [
      [`x-ratelimit-limit-${unit}`, String(rate.at_most)],
      [`x-ratelimit-remaining-${unit}`, String(Math.max(0, rate.at_most - rate.used))],
      [`x-ratelimit-reset-${unit}`, `${reset}s`],
    ];
  });
  const [most] = rates.filter(isWarned).toSorted((a, b) => b.used / b.at_most - a.used / a.at_most);
  if (most) headers.push(["x-ratelimit-warning", `${most.subject}; ${most.name}; ${most.used} of ${most.at_most}`]);
  return Object.fromEntries(headers);
}

const isWarned = ({ used, at_most }: RateStatus): boolean => used >= at_most * 0.8;

/** The steps that these limits have reached; the log gets each at most once a day. Users are personal, so what they reach is no event. */
export const reachedRates = (rates: RateStatus[], now: number): BudgetStep[] =>
  rates
    .filter((rate) => rate.subject !== EACH_USER && isWarned(rate))
    .map(({ subject, name, used, at_most }) => ({
      subject,
      limit: name,
      period: new Date(now).toISOString().slice(0, 10),
      percent: used >= at_most ? 100 : 80,
      spent: String(used),
      at_most: String(at_most),
    }));

const UNITS: Record<RateName, string> = {
  requests_per_minute: "requests of this minute",
  tokens_per_minute: "tokens of this minute",
  concurrent_turns: "turns at a time",
  concurrent_streams: "streams at a time",
};

/** For people and clients. */
export const describeRate = ({ subject, name, used, at_most }: RateStatus): string =>
  `The limit ${name} of ${subject} is reached: ${used} of ${at_most} ${UNITS[name]} are used.`;
