import { nameSubject } from "#events/budget.ts";
import { fromPicodollars } from "#events/money.ts";
import type { ProcessShare } from "./rates.ts";
import type { Reservations, Spending } from "./reservations.ts";
import type { MoneyBudget } from "./spenderLimits.ts";
import { periodEnd, hasPeriodEnded } from "./limits.ts";
import { earlierSumsFor } from "./status.ts";

/** A limit of money that applies to a turn, with the current spending and reservations. Amounts are in picodollars. */
export interface MoneyLimit extends MoneyBudget {
  spent: bigint;
  reserved: bigint;
}

/** The spending in a limit's current period according to the snapshot; 0 if the period began after the snapshot was taken. */
function spentOf({ name, counted }: MoneyBudget, spending: Spending, now: number): bigint {
  if (hasPeriodEnded(name, spending.at, now)) return 0n;
  return (spending.today.get(counted)?.cost ?? 0n) + (earlierSumsFor(name, spending).get(counted)?.cost ?? 0n);
}

/** Called for every turn, so it formats no amounts. */
export function moneyLimitsOf(budgets: MoneyBudget[], reservations: Reservations, now: number): MoneyLimit[] {
  const { spending } = reservations;
  if (!spending) return [];
  return budgets.map((budget): MoneyLimit => {
    const { subject, counted, name, hard, at_most } = budget;
    const { ended, reserved } = reservations.of(counted);
    return { subject, counted, name, hard, at_most, spent: spentOf(budget, spending, now) + ended, reserved };
  });
}

/** The limit as API responses show it. */
export function presentMoneyLimit({ subject, name, at_most, spent, reserved }: MoneyLimit, now: number) {
  return {
    subject,
    name,
    at_most: fromPicodollars(at_most),
    spent: fromPicodollars(spent),
    reserved: fromPicodollars(reserved),
    ends_at: periodEnd(name, new Date(now)),
  };
}

/** For people and clients: what is spent, and what running turns may still take. */
export const describeReserved = ({
  subject,
  name,
  spent,
  reserved,
  at_most,
}: ReturnType<typeof presentMoneyLimit>): string =>
  `The budget ${nameSubject(subject)} has used ${spent} of ${at_most} US dollars (${name}), and ${reserved} are reserved for turns under way. Try again when one has ended.`;

/** `spent`: nothing is left. `reserved`: running turns may take the rest. `wait`: the share of this process is used up. */
type MoneyDecision = { kind: "admit" | "wait" } | { kind: "spent" | "reserved"; by: MoneyLimit };

const leftOf = ({ at_most, spent, reserved }: MoneyLimit): bigint => at_most - spent - reserved;

function isShareGivenOut(limit: MoneyLimit, cost: bigint, { processes, reserved }: ProcessShare): boolean {
  const own = reserved(limit.counted);
  return own > 0n && (own + cost) * BigInt(processes) > leftOf(limit) + own;
}

/** When a used-up limit begins again, in milliseconds; never for a total. */
const endOf = ({ name }: MoneyLimit, now: number): number =>
  periodEnd(name, new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY;

/**
 * A turn whose maximum cost exceeds what is left is allowed if nothing is reserved for others, because it may cost much less. Of
 * several used-up limits, the one that refuses longest is named. Called for every turn, so it builds no lists.
 */
export function decideMoney(limits: MoneyLimit[], cost: bigint, share: ProcessShare, now: number): MoneyDecision {
  let used: MoneyLimit | undefined;
  let held: MoneyLimit | undefined;
  let mustWait = false;
  for (const limit of limits) {
    if (!limit.hard) continue;
    if (limit.spent >= limit.at_most && (!used || endOf(limit, now) > endOf(used, now))) used = limit;
    if (!held && limit.reserved > 0n && leftOf(limit) < cost) held = limit;
    mustWait ||= share.processes > 1 && isShareGivenOut(limit, cost, share);
  }
  if (used) return { kind: "spent", by: used };
  if (held) return { kind: "reserved", by: held };
  return { kind: mustWait ? "wait" : "admit" };
}
