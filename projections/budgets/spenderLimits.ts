import { RateName, splitSubject } from "#events/budget.ts";
import { toPicodollars } from "#events/money.ts";
import type { BudgetRow } from "./query.ts";
import { findCountedSubject, spenderKey, subjectsOf, type Spender } from "./subjects.ts";

/** A limit that applies to a spender. */
interface ApplicableLimit {
  /** The subject of the budget. */
  subject: string;
  /** The counted subject: for `each-user`, the individual user. */
  counted: string;
  hard: boolean;
}
/** A limit per minute or on concurrency. */
export interface RateLimit extends ApplicableLimit {
  name: RateName;
  at_most: number;
}
const MONEY_NAMES = ["cost_per_day", "cost_per_week", "cost_per_month", "cost_total"] as const;
export interface MoneyBudget extends ApplicableLimit {
  name: (typeof MONEY_NAMES)[number];
  /** In picodollars. */
  at_most: bigint;
}

/** The limits that a spender's turns are counted for. */
export interface SpenderLimits {
  /** All subjects that count a turn; with its model only if a budget names it. */
  subjects: string[];
  rates: RateLimit[];
  money: MoneyBudget[];
}

/** A budget's limits per minute or on concurrency. */
export const rateLimitsOf = ({ subject, limits, hard }: BudgetRow, counted: string): RateLimit[] =>
  RateName.options.flatMap((name) => {
    const at_most = limits[name];
    return at_most === undefined ? [] : [{ subject, counted, name, hard, at_most }];
  });

const moneyBudgetsOf = ({ subject, limits, hard }: BudgetRow, counted: string): MoneyBudget[] =>
  MONEY_NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [{ subject, counted, name, hard, at_most: toPicodollars(limit) }];
  });

function findLimits(budgets: BudgetRow[], spender: Spender): SpenderLimits {
  const subjects = subjectsOf(spender);
  const relevant = budgets.flatMap((budget) => {
    const counted = findCountedSubject(budget, subjects);
    return counted === undefined ? [] : [{ budget, counted }];
  });
  const counted = new Set(relevant.map((one) => one.counted));
  return {
    subjects: subjects.filter((subject) => splitSubject(subject).model === null || counted.has(subject)),
    rates: relevant.flatMap(({ budget, counted }) => rateLimitsOf(budget, counted)),
    money: relevant.flatMap(({ budget, counted }) => moneyBudgetsOf(budget, counted)),
  };
}

/** Maximum spenders of an organization whose limits are cached until its budgets change. */
const MAX_SPENDERS = 1_000;
const found = new WeakMap<BudgetRow[], Map<string, SpenderLimits>>();

/** Cached, because all turns of a spender have the same limits until the budgets change. */
export function limitsOfSpender(budgets: BudgetRow[], spender: Spender): SpenderLimits {
  const key = spenderKey(spender);
  let bySpender = found.get(budgets);
  if (!bySpender) found.set(budgets, (bySpender = new Map()));
  const known = bySpender.get(key);
  if (known) return known;
  const limits = findLimits(budgets, spender);
  if (bySpender.size >= MAX_SPENDERS) bySpender.clear();
  bySpender.set(key, limits);
  return limits;
}
