import { RateName, splitSubject } from "#events/budget.ts";
import { toPicodollars } from "#events/money.ts";
import type { BudgetRow } from "./query.ts";
import { countedAs, spenderKey, subjectsOf, type Spender } from "./subjects.ts";

/** Of a limit that a spender counts for. */
interface Concerning {
  /** Of the budget. */
  subject: string;
  /** That is counted: of `each-user`, the one user. */
  counted: string;
  hard: boolean;
}
/** A limit of a minute or of a moment. */
export interface RateLimit extends Concerning {
  name: RateName;
  at_most: number;
}
const MONEY_NAMES = ["cost_per_day", "cost_per_week", "cost_per_month", "cost_total"] as const;
export interface MoneyBudget extends Concerning {
  name: (typeof MONEY_NAMES)[number];
  /** Picodollars. */
  at_most: bigint;
}

/** The limits that the turns of a spender are counted for. */
export interface SpenderLimits {
  /** All that a turn counts for; with a model, only where a budget has it. */
  subjects: string[];
  rates: RateLimit[];
  money: MoneyBudget[];
}

/** The limits of a minute or of a moment of a budget. */
export const rateLimitsOf = ({ subject, limits, hard }: BudgetRow, counted: string): RateLimit[] =>
  RateName.options.flatMap((name) => {
    const at_most = limits[name];
    return at_most === undefined ? [] : [{ subject, counted, name, hard, at_most }];
  });

const moneyLimitsOf = ({ subject, limits, hard }: BudgetRow, counted: string): MoneyBudget[] =>
  MONEY_NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [{ subject, counted, name, hard, at_most: toPicodollars(limit) }];
  });

function findLimits(budgets: BudgetRow[], spender: Spender): SpenderLimits {
  const subjects = subjectsOf(spender);
  const concerning = budgets.flatMap((budget) => {
    const counted = countedAs(budget, subjects);
    return counted === undefined ? [] : [{ budget, counted }];
  });
  const counted = new Set(concerning.map((one) => one.counted));
  return {
    subjects: subjects.filter((subject) => splitSubject(subject).model === null || counted.has(subject)),
    rates: concerning.flatMap(({ budget, counted }) => rateLimitsOf(budget, counted)),
    money: concerning.flatMap(({ budget, counted }) => moneyLimitsOf(budget, counted)),
  };
}

/** Spenders of an organization whose limits are kept for the second that a reading of its budgets lasts. */
const MAX_SPENDERS = 1_000;
const found = new WeakMap<BudgetRow[], Map<string, SpenderLimits>>();

/** Every turn of a spender has the same limits until the budgets are read again. */
export function limitsOfSpender(budgets: BudgetRow[], spender: Spender): SpenderLimits {
  const key = spenderKey(spender);
  let bySpender = found.get(budgets);
  if (!bySpender) found.set(budgets, (bySpender = new Map()));
  const known = bySpender.get(key);
  if (known) return known;
  const limits = findLimits(budgets, spender);
  if (bySpender.size < MAX_SPENDERS) bySpender.set(key, limits);
  return limits;
}
