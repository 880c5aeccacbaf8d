import { RateName } from "#events/budget.ts";
import type { BudgetRow } from "./query.ts";

const isLimited = ({ limits }: BudgetRow): boolean => RateName.options.some((name) => limits[name] !== undefined);

/**
 * Detects budgets that get their first limit per minute or on concurrency. Processes send no news of turns without such limits, so
 * turns that began earlier must be read.
 */
export class NewLimitDetector {
  readonly #read: () => Promise<void>;
  #budgets: BudgetRow[] | undefined;
  #limited: Set<string> | undefined;
  #counted = Promise.resolve();
  /** Readings that have not ended. */
  #readings = 0;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Whether the turns for all these budgets are counted, so that `follow` need not be awaited. */
  hasFollowed(budgets: BudgetRow[]): boolean {
    return budgets === this.#budgets && this.#readings === 0;
  }
  /** Resolves once the turns for all budgets are counted, as they are after the first call. */
  follow(budgets: BudgetRow[]): Promise<void> {
    if (budgets === this.#budgets) return this.#counted;
    const limited = new Set(budgets.filter(isLimited).map(({ subject }) => subject));
    const known = this.#limited ?? limited;
    this.#budgets = budgets;
    this.#limited = limited;
    if (!limited.isSubsetOf(known)) {
      this.#readings += 1;
      this.#counted = this.#read().finally(() => (this.#readings -= 1));
    }
    return this.#counted;
  }
}
