import { fromPicodollars, toPicodollars } from "#events/money.ts";
import type { Share } from "./rates.ts";
import type { BudgetRow } from "./query.ts";
import type { Reservations } from "./reservations.ts";
import { periodsAt } from "./periods.ts";
import { countedAs, subjectsOf, type Spender } from "./status.ts";

/** A limit of money that a turn counts for, with what is spent and held back of it at this moment. Amounts are picodollars. */
export interface MoneyLimit {
  /** Of the budget. */
  subject: string;
  /** That is counted: of `each-user`, the one user. */
  counted: string;
  name: "cost_per_day" | "cost_per_month";
  hard: boolean;
  at_most: bigint;
  spent: bigint;
  reserved: bigint;
}

const NAMES = ["cost_per_day", "cost_per_month"] as const;

type Amounts = readonly (readonly [name: MoneyLimit["name"], at_most: bigint])[];
/** Every turn compares with the same rows for a second. */
const parsed = new WeakMap<BudgetRow, Amounts>();

function amountsOf(budget: BudgetRow): Amounts {
  const known = parsed.get(budget);
  if (known) return known;
  const amounts = NAMES.flatMap((name) => {
    const limit = budget.limits[name];
    return limit === undefined ? [] : [[name, toPicodollars(limit)] as const];
  });
  parsed.set(budget, amounts);
  return amounts;
}

/** In every turn, so it makes no texts of amounts. */
export function moneyLimitsOf(budgets: BudgetRow[], spender: Spender, reservations: Reservations): MoneyLimit[] {
  const { spending } = reservations;
  if (!spending) return [];
  const subjects = subjectsOf(spender);
  return budgets.flatMap((budget) => {
    const counted = countedAs(budget, subjects);
    if (counted === undefined) return [];
    const { ended, reserved } = reservations.of(counted);
    const today = (spending.today.get(counted)?.cost ?? 0n) + ended;
    const { subject, hard } = budget;
    return amountsOf(budget).map(([name, at_most]): MoneyLimit => {
      const spent = name === "cost_per_day" ? today : today + (spending.before.get(counted)?.cost ?? 0n);
      return { subject, counted, name, hard, at_most, spent, reserved };
    });
  });
}

/** The limit as answers tell it. */
export function presentMoneyLimit({ subject, name, at_most, spent, reserved }: MoneyLimit, now: number) {
  const { nextDay, nextMonth } = periodsAt(new Date(now));
  return {
    subject,
    name,
    at_most: fromPicodollars(at_most),
    spent: fromPicodollars(spent),
    reserved: fromPicodollars(reserved),
    ends_at: name === "cost_per_day" ? nextDay : nextMonth,
  };
}

/** `spent`: nothing is left. `reserved`: turns under way may take the rest. `wait`: the share of this process is given out. */
type MoneyDecision = { kind: "admit" | "wait" } | { kind: "spent" | "reserved"; by: MoneyLimit };

const leftOf = ({ at_most, spent, reserved }: MoneyLimit): bigint => at_most - spent - reserved;

function isShareGivenOut(limit: MoneyLimit, cost: bigint, { processes, reserved }: Share): boolean {
  const own = reserved(limit.counted);
  return own > 0n && (own + cost) * BigInt(processes) > leftOf(limit) + own;
}

/** A turn whose own worst cost exceeds what is left begins when nothing is held back for others: it may cost much less. */
export function decideMoney(limits: MoneyLimit[], cost: bigint, share: Share): MoneyDecision {
  const hard = limits.filter((limit) => limit.hard);
  const used = hard.find(({ at_most, spent }) => spent >= at_most);
  if (used) return { kind: "spent", by: used };
  const held = hard.find((limit) => limit.reserved > 0n && leftOf(limit) < cost);
  if (held) return { kind: "reserved", by: held };
  const mustWait = share.processes > 1 && hard.some((limit) => isShareGivenOut(limit, cost, share));
  return { kind: mustWait ? "wait" : "admit" };
}
