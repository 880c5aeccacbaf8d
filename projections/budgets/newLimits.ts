import { RateName } from "#events/budget.ts";
import type { BudgetRow } from "./query.ts";

const isLimited = ({ limits }: BudgetRow): boolean => RateName.options.some((name) => limits[name] !== undefined);

/**
 * Notices budgets that get their first limit of a minute or a moment. No process sends news of turns that no limit concerns, so
 * those that began before must be read.
 */
export class NewLimits {
  readonly #read: () => Promise<void>;
  #budgets: BudgetRow[] | undefined;
  #limited: Set<string> | undefined;
  #counted = Promise.resolve();

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Resolves once the turns of all budgets are counted. The first time they are. */
  follow(budgets: BudgetRow[]): Promise<void> {
    if (budgets === this.#budgets) return this.#counted;
    const limited = new Set(budgets.filter(isLimited).map(({ subject }) => subject));
    const known = this.#limited ?? limited;
    this.#budgets = budgets;
    this.#limited = limited;
    if (!limited.isSubsetOf(known)) this.#counted = this.#read();
    return this.#counted;
  }
}
