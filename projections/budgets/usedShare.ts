import type { MoneyLimit } from "./moneyLimits.ts";
import type { ProcessShare, RateStatus } from "./rates.ts";
import { addRateUsage, NO_RATE_USAGE, type RateUsage } from "./turnCounts.ts";

/** What this process has admitted, by subject, since all others last answered. */
export class UsedShare implements Omit<ProcessShare, "processes"> {
  readonly #admitted = new Map<string, RateUsage>();
  readonly #reserved = new Map<string, bigint>();
  readonly admitted = (counted: string): RateUsage => this.#admitted.get(counted) ?? NO_RATE_USAGE;
  readonly reserved = (counted: string): bigint => this.#reserved.get(counted) ?? 0n;

  /** Counts a turn once for each subject. */
  countTurn(rates: RateStatus[], added: RateUsage): void {
    for (const counted of new Set(rates.map((rate) => rate.counted)))
      this.#admitted.set(counted, addRateUsage(this.admitted(counted), added));
  }
  /** Counts the maximum cost of a request once for each subject. */
  countMoney(limits: MoneyLimit[], cost: bigint): void {
    for (const counted of new Set(limits.map((limit) => limit.counted)))
      this.#reserved.set(counted, this.reserved(counted) + cost);
  }
  clear(): void {
    this.#admitted.clear();
    this.#reserved.clear();
  }
}
