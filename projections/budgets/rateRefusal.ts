import type { BudgetStep } from "#events/budget.ts";
import { describeReserved, presentMoneyLimit } from "./moneyLimits.ts";
import { describeRate, rateHeaders, reachedRates, type RateStatus } from "./rates.ts";
import type { TurnCounts, RateUsage } from "./turnCounts.ts";

/** Retry delay if running turns must end first, at an unknown time. */
const MIN_RETRY_MS = 1_000;

export interface RateRefusal {
  code: "rate_limited" | "budget_reserved";
  message: string;
  retry_after_ms: number;
  /** The limit is 0, so it has no room until somebody raises it. */
  isFinal: boolean;
  headers: Record<string, string>;
  /** Limits used to at least 80 %. */
  reached: BudgetStep[];
}

/** The refusal if running turns have reserved the rest of a budget. */
export const reservedRefusal = (by: ReturnType<typeof presentMoneyLimit>): RateRefusal => ({
  code: "budget_reserved",
  message: describeReserved(by),
  retry_after_ms: MIN_RETRY_MS,
  isFinal: false,
  headers: {},
  reached: [],
});

interface Excess {
  rates: RateStatus[];
  /** What the turn would add. */
  added: RateUsage;
  now: number;
}

/**
 * The refusal of limits per minute or on concurrency without room. It names the one that has room last, because earlier retries would
 * be refused, too; a limit of 0 never has any.
 */
export function rateRefusal(counts: TurnCounts, full: RateStatus[], { rates, added, now }: Excess): RateRefusal {
  const waitFor = ({ counted, name, used, at_most }: RateStatus): number =>
    at_most === 0 ? Number.POSITIVE_INFINITY : counts.freeIn(counted, name, used + added[name] - at_most, now);
  const by = full.reduce((last, rate) => (waitFor(rate) > waitFor(last) ? rate : last));
  const isFinal = by.at_most === 0;
  return {
    code: "rate_limited",
    message: describeRate(by),
    retry_after_ms: isFinal ? MIN_RETRY_MS : Math.max(MIN_RETRY_MS, waitFor(by)),
    isFinal,
    headers: rateHeaders(rates, counts, now, by),
    reached: reachedRates(rates, now),
  };
}
