import { isEachUser, nameSubject, splitSubject, type BudgetStep, type RateName } from "#events/budget.ts";
import { createPause, type Pause } from "#events/slices.ts";
import type { BudgetRow } from "./query.ts";
import { rateLimitsOf, type RateLimit } from "./spenderLimits.ts";
import { findCountedSubjectOf, isUser, type Spender } from "./subjects.ts";
import type { RateUsage, TurnCounts } from "./turnCounts.ts";

/** What a new turn adds to rates. */
export const rateUsageOfTurn = ({ tokens, streamed }: { tokens: number; streamed: boolean }): RateUsage => ({
  requests_per_minute: 1,
  tokens_per_minute: tokens,
  concurrent_turns: 1,
  concurrent_streams: streamed ? 1 : 0,
});

/** A limit per minute or on concurrency, and its current use. */
export interface RateStatus extends RateLimit {
  used: number;
}
/** Includes when all of it will have left the window. */
export interface PresentedRate extends RateStatus {
  ends_at: Date;
}

/** The current use of limits. */
export const ratesOf = (limits: RateLimit[], counts: TurnCounts, now: number): RateStatus[] =>
  limits.map(({ subject, counted, name, hard, at_most }) => ({
    subject,
    counted,
    name,
    hard,
    at_most,
    used: counts.used(counted, name, now),
  }));

/** Adds a turn that has begun. */
export function countTurn(rates: RateStatus[], added: RateUsage): void {
  for (const rate of rates) rate.used += added[rate.name];
}

/** Milliseconds until everything counted has left the window. */
const leavesIn = ({ counted, name, used }: RateStatus, counts: TurnCounts, now: number): number =>
  counts.freeIn(counted, name, used, now);

const present = (rates: RateStatus[], counts: TurnCounts, now: number): PresentedRate[] =>
  rates.map((rate) => ({ ...rate, ends_at: new Date(now + leavesIn(rate, counts, now)) }));

/** The limits of a budget for each user, each with the user who has the highest use. */
async function ratesOfUsers(budget: BudgetRow, counts: TurnCounts, now: number, pause: Pause): Promise<RateStatus[]> {
  const most = ratesOf(rateLimitsOf(budget, budget.subject), counts, now);
  const { model } = splitSubject(budget.subject);
  for (const user of most.length > 0 ? counts.subjects() : []) {
    if (isUser(user, model))
      for (const [n, one] of ratesOf(rateLimitsOf(budget, user), counts, now).entries())
        if (one.used > most[n]!.used) most[n] = one;
    const turn = pause();
    if (turn) await turn;
  }
  return most;
}

/**
 * All limits, for people. For `each-user`, each limit shows the user with the highest use. Lets other work run in between: there may
 * be a thousand budgets and many users.
 */
export async function allRates(budgets: BudgetRow[], counts: TurnCounts, now: number): Promise<PresentedRate[]> {
  const all: RateStatus[] = [];
  const pause = createPause();
  for (const budget of budgets) {
    const rates = isEachUser(budget.subject)
      ? await ratesOfUsers(budget, counts, now, pause)
      : ratesOf(rateLimitsOf(budget, budget.subject), counts, now);
    all.push(...rates);
    const turn = pause();
    if (turn) await turn;
  }
  return present(all, counts, now);
}

/** The limits that apply to a spender, of any model. */
export const rateLimitsFor = (budgets: BudgetRow[], spender: Spender): RateLimit[] =>
  budgets.flatMap((budget) => {
    const counted = findCountedSubjectOf(budget, spender);
    return counted === undefined ? [] : rateLimitsOf(budget, counted);
  });
export const presentRates = (limits: RateLimit[], counts: TurnCounts, now: number): PresentedRate[] =>
  present(ratesOf(limits, counts, now), counts, now);

/** The part of a limit that a process may admit before the others have answered. */
export interface ProcessShare {
  /** Number of processes that start turns of the organization. */
  processes: number;
  /** What this process has admitted for the subject since all others last answered. */
  admitted(counted: string): RateUsage;
  /** Picodollars reserved since then. */
  reserved(counted: string): bigint;
}

/** `wait`: the limits have room, but this process has used its share. `by`: the limits without room. */
type RateDecision = { kind: "admit" } | { kind: "wait" } | { kind: "refuse"; by: RateStatus[] };

/** A turn whose estimate alone exceeds the limit is allowed if nothing else is counted, because estimates are rough. */
const isFull = ({ name, used, at_most }: RateStatus, added: RateUsage): boolean =>
  used >= at_most || (used > 0 && used + added[name] > at_most);
/** A limit of streams does not apply to other turns. */
const concerns = ({ name }: RateStatus, added: RateUsage): boolean => name !== "concurrent_streams" || added[name] > 0;

function isShareUsed({ name, used, at_most, counted }: RateStatus, added: RateUsage, share: ProcessShare): boolean {
  const admitted = share.admitted(counted)[name];
  const left = at_most - (used - admitted);
  return admitted > 0 && admitted + added[name] > Math.ceil(left / share.processes);
}

/** Whether a turn may begin now. */
export function decideRates(rates: RateStatus[], added: RateUsage, share: ProcessShare): RateDecision {
  const hard = rates.filter((rate) => rate.hard && concerns(rate, added));
  const full = hard.filter((rate) => isFull(rate, added));
  if (full.length > 0) return { kind: "refuse", by: full };
  const mustWait = share.processes > 1 && hard.some((rate) => isShareUsed(rate, added, share));
  return { kind: mustWait ? "wait" : "admit" };
}

const leftOf = ({ at_most, used }: RateStatus): number => at_most - used;

/**
 * The limit with the least left. A soft limit refuses nothing, so it must not hide when a hard one will. Called for every turn, so it
 * builds no lists.
 */
function least(rates: RateStatus[], name: RateName): RateStatus | undefined {
  let found: RateStatus | undefined;
  for (const rate of rates) {
    if (rate.name !== name) continue;
    const isFirst = !found || (rate.hard && !found.hard);
    if (isFirst || (rate.hard === found!.hard && leftOf(rate) < leftOf(found!))) found = rate;
  }
  return found;
}

/** The limit with the highest share of use, if that is at least 80 %. */
function mostUsed(rates: RateStatus[]): RateStatus | undefined {
  let found: RateStatus | undefined;
  for (const rate of rates)
    if (isWarned(rate) && (!found || rate.used / rate.at_most > found.used / found.at_most)) found = rate;
  return found;
}

const windowHeaders = (unit: string, name: RateName) => ({
  name,
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
});
const WINDOW_HEADERS = [windowHeaders("requests", "requests_per_minute"), windowHeaders("tokens", "tokens_per_minute")];

/**
 * Headers like those of OpenAI's API, for the limits with the least left. A limit is whole again after at most a minute. `by`: the
 * limit that refuses, whose figures the message names.
 */
export function rateHeaders(
  rates: RateStatus[],
  counts: TurnCounts,
  now: number,
  by?: RateStatus,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, limit, remaining, reset } of WINDOW_HEADERS) {
    const rate = by?.name === name ? by : least(rates, name);
    if (!rate) continue;
    headers[limit] = String(rate.at_most);
    headers[remaining] = String(Math.max(0, leftOf(rate)));
    headers[reset] = `${Math.ceil(leavesIn(rate, counts, now) / 1000)}s`;
  }
  const most = mostUsed(rates);
  if (most)
    headers["x-ratelimit-warning"] = `${nameSubject(most.subject)}; ${most.name}; ${most.used} of ${most.at_most}`;
  return headers;
}

const isWarned = ({ used, at_most }: RateStatus): boolean => used >= at_most * 0.8;

/**
 * The thresholds that these limits have reached, each recorded at most once a day. Those of users are not recorded, because users
 * are personal data.
 */
export const reachedRates = (rates: RateStatus[], now: number): BudgetStep[] =>
  rates
    .filter((rate) => !isEachUser(rate.subject) && isWarned(rate))
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
  at_most === 0
    ? `The limit ${name} of ${nameSubject(subject)} is 0: nothing begins until an administrator raises it.`
    : `The limit ${name} of ${nameSubject(subject)} is reached: ${used} of ${at_most} ${UNITS[name]} are used.`;
