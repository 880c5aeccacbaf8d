import { toPicodollars } from "#events/money.ts";
import type { BudgetRow } from "./query.ts";
import type { Share } from "./rates.ts";
import type { Reservations } from "./reservations.ts";
import { countedAs, hasMoney, limitStatuses, subjectsOf, type LimitStatus, type Spender } from "./status.ts";

/** A limit of money that a turn counts for, with what is spent and held back of it at this moment. */
export interface MoneyLimit extends LimitStatus {
  /** Of the budget. */
  subject: string;
  /** That is counted: of `each-user`, the one user. */
  counted: string;
  hard: boolean;
}

/** The budgets of money that a turn counts for. */
export function moneyBudgetsOf(budgets: BudgetRow[], spender: Spender): BudgetRow[] {
  const subjects = subjectsOf(spender);
  return budgets.filter((budget) => hasMoney([budget]) && countedAs(budget, subjects) !== undefined);
}

export function moneyLimitsOf(
  budgets: BudgetRow[],
  spender: Spender,
  reservations: Reservations,
  now: number,
): MoneyLimit[] {
  const { spending } = reservations;
  if (!spending) return [];
  const figures = { ...spending, pending: (subject: string) => reservations.of(subject) };
  const subjects = subjectsOf(spender);
  return moneyBudgetsOf(budgets, spender).flatMap((budget) => {
    const counted = countedAs(budget, subjects)!;
    const { subject, hard } = budget;
    return limitStatuses(budget, counted, figures, new Date(now))
      .filter(({ name }) => name.startsWith("cost"))
      .map((limit) => ({ ...limit, subject, counted, hard }));
  });
}

/** `spent`: nothing is left. `reserved`: turns under way may take the rest. `wait`: the share of this process is given out. */
type MoneyDecision = { kind: "admit" | "wait" } | { kind: "spent" | "reserved"; by: MoneyLimit };

const leftOf = ({ at_most, spent, reserved = "0" }: MoneyLimit): bigint =>
  toPicodollars(at_most) - toPicodollars(spent) - toPicodollars(reserved);

function isShareGivenOut(limit: MoneyLimit, cost: bigint, { processes, reserved }: Share): boolean {
  const own = reserved(limit.counted);
  return own > 0n && (own + cost) * BigInt(processes) > leftOf(limit) + own;
}

/** A turn whose own worst cost exceeds what is left begins when nothing is held back for others: it may cost much less. */
export function decideMoney(limits: MoneyLimit[], cost: bigint, share: Share): MoneyDecision {
  const hard = limits.filter((limit) => limit.hard);
  const used = hard.find(({ at_most, spent }) => toPicodollars(spent) >= toPicodollars(at_most));
  if (used) return { kind: "spent", by: used };
  const held = hard.find((limit) => toPicodollars(limit.reserved ?? "0") > 0n && leftOf(limit) < cost);
  if (held) return { kind: "reserved", by: held };
  const mustWait = share.processes > 1 && hard.some((limit) => isShareGivenOut(limit, cost, share));
  return { kind: mustWait ? "wait" : "admit" };
}
