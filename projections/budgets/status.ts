import { EACH_USER, LimitName, type BudgetStep } from "#events/budget.ts";
import { fromPicodollars, toPicodollars } from "#events/money.ts";
import {
  addAmounts,
  endOf,
  fromUnits,
  MEASURES,
  NO_AMOUNTS,
  toUnits,
  type Amounts,
  type HeldSums,
  type Sums,
  type Unit,
} from "./limits.ts";
import type { BudgetRow, SpentRow } from "./query.ts";

/** Who a turn is counted for. */
export interface Spender {
  organization_id: string;
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  /** The mark of the request's `user`. */
  user_mark: string | null;
}

/** One limit of a budget, and what was spent of it. */
export interface LimitStatus {
  name: LimitName;
  /** Whole numbers, or US dollars as a decimal text. */
  at_most: string;
  spent: string;
  /** Of money: what is held back for turns under way, in US dollars. */
  reserved?: string;
  /** Whole percent, rounded down; 100 where the limit is zero. */
  percent: number;
  /** `2026-11-23` or `2026-11`; of what is stored or runs, the day on which it is looked at. */
  period: string;
  /** Null: when something is deleted or ends. */
  ends_at: Date | null;
}
export interface BudgetStatus {
  budget: BudgetRow;
  limits: LimitStatus[];
}

/** Begins the subject of one external user, for whom budgets of `each-user` count. */
export const USER_SUBJECT = "user:";

/** Subjects that a turn counts for. */
export const subjectsOf = ({
  principal,
  project_id,
  agent_id,
  user_mark,
}: Omit<Spender, "organization_id">): string[] => [
  "organization",
  principal,
  ...(project_id === null ? [] : [`project:${project_id}`]),
  ...(agent_id === null ? [] : [`agent:${agent_id}`]),
  ...(user_mark === null ? [] : [`${USER_SUBJECT}${user_mark}`]),
];

const amountsOf = ({ tokens = 0, cost, pages = 0, bytes = 0, documents = 0, runs = 0 }: SpentRow): Amounts => ({
  tokens: BigInt(tokens),
  cost: toPicodollars(cost ?? "0"),
  pages: BigInt(pages),
  bytes: BigInt(bytes),
  documents: BigInt(documents),
  runs: BigInt(runs),
});

/** Sums once for all budgets: an organization may have a thousand of them, and as many spenders. */
export function sumBySubject(rows: SpentRow[]): Sums {
  const sums = new Map<string, Amounts>();
  const add = (subject: string, amounts: Amounts) =>
    sums.set(subject, addAmounts(sums.get(subject) ?? NO_AMOUNTS, amounts));
  for (const row of rows) {
    const amounts = amountsOf(row);
    for (const subject of subjectsOf(row)) add(subject, amounts);
  }
  return sums;
}

export function addSums(some: Sums, more: Sums): Sums {
  if (some.size === 0) return more;
  const sums = new Map(some);
  for (const [subject, amounts] of more) sums.set(subject, addAmounts(sums.get(subject) ?? NO_AMOUNTS, amounts));
  return sums;
}

function statusOf(name: LimitName, limit: string | number, sum: bigint, now: Date): Omit<LimitStatus, "reserved"> {
  const most = toUnits(name, limit);
  return {
    name,
    at_most: fromUnits(name, most),
    spent: fromUnits(name, sum),
    percent: most === 0n ? 100 : Number((sum * 100n) / most),
    period: now.toISOString().slice(0, MEASURES[name].per === "month" ? 7 : 10),
    ends_at: endOf(name, now),
  };
}

/** Picodollars that the sums do not contain: of turns that have ended since, and held back for those under way. */
export interface UnsettledAmounts {
  ended: bigint;
  reserved: bigint;
}
const NOTHING_PENDING: UnsettledAmounts = { ended: 0n, reserved: 0n };

/** What budgets are compared with. `before`: this month until today; `today`: from then on. */
export interface Figures {
  before: Sums;
  today: Sums;
  pending?: (subject: string) => UnsettledAmounts;
  /** What is stored and runs; absent: not read. */
  held?: HeldSums;
}

export const hasMoney = (budgets: BudgetRow[]): boolean =>
  budgets.some(({ limits }) => limits.cost_per_day !== undefined || limits.cost_per_month !== undefined);

export const hasPeriods = (budgets: BudgetRow[]): boolean => has(budgets, ({ per }) => per !== "now");
/** Whether a limit is about what is stored or runs at a moment. */
export const hasHeld = (budgets: BudgetRow[]): boolean => has(budgets, ({ per }) => per === "now");

/** The limits that are set, of these units. */
const namesOf = ({ limits }: BudgetRow, units?: ReadonlySet<Unit>): LimitName[] =>
  LimitName.options.filter((name) => limits[name] !== undefined && (!units || units.has(MEASURES[name].unit)));
const has = (budgets: BudgetRow[], is: (measure: (typeof MEASURES)[LimitName]) => boolean): boolean =>
  budgets.some((budget) => namesOf(budget).some((name) => is(MEASURES[name])));

export interface CountedSubject {
  /** The subject whose amounts are compared. */
  subject: string;
  /** Absent: all. */
  units?: ReadonlySet<Unit> | undefined;
}

/** How far each limit of a budget is used up by what one subject spent or has. */
export const limitStatuses = (
  budget: BudgetRow,
  { subject, units }: CountedSubject,
  { before, today, pending, held }: Figures,
  now: Date,
): LimitStatus[] =>
  namesOf(budget, units).flatMap((name) => {
    const limit = budget.limits[name]!;
    const { unit, per } = MEASURES[name];
    if (per === "now") return held ? [statusOf(name, limit, held.get(subject)[unit], now)] : [];
    const ofToday = (today.get(subject) ?? NO_AMOUNTS)[unit];
    const sum = ofToday + (per === "day" ? 0n : (before.get(subject) ?? NO_AMOUNTS)[unit]);
    if (unit !== "cost") return [statusOf(name, limit, sum, now)];
    const { ended, reserved } = pending?.(subject) ?? NOTHING_PENDING;
    const status = statusOf(name, limit, sum + ended, now);
    return [{ ...status, ...(pending && { reserved: fromPicodollars(reserved) }) }];
  });

/** Of a budget for each user: what the user has spent that has spent most, limit by limit. */
function mostOfUsers(budget: BudgetRow, figures: Figures, now: Date): LimitStatus[] {
  const { today, before, held } = figures;
  const users = new Set(
    [...today.keys(), ...before.keys(), ...(held?.keys() ?? [])].filter((one) => one.startsWith(USER_SUBJECT)),
  );
  return [...users].reduce(
    (most, subject) =>
      limitStatuses(budget, { subject }, figures, now).map((one, n) =>
        one.percent > most[n]!.percent ? one : most[n]!,
      ),
    limitStatuses(budget, { subject: EACH_USER }, figures, now),
  );
}

/** How far each limit of each budget is used up. */
export const budgetStatuses = (budgets: BudgetRow[], figures: Figures, now: Date): BudgetStatus[] =>
  budgets.map((budget) => ({
    budget,
    limits:
      budget.subject === EACH_USER
        ? mostOfUsers(budget, figures, now)
        : limitStatuses(budget, { subject: budget.subject }, figures, now),
  }));

/** The subject of a budget that a spender is counted as; undefined where the budget does not concern it. */
export const countedAs = ({ subject }: BudgetRow, subjects: string[]): string | undefined =>
  subject === EACH_USER
    ? subjects.find((one) => one.startsWith(USER_SUBJECT))
    : subjects.find((one) => one === subject);

/** The steps that these limits have reached: 80 or 100 percent. Users are personal, so what they reach is no event. */
export const reachedLimits = (statuses: BudgetStatus[]): BudgetStep[] =>
  statuses.flatMap(({ budget: { subject }, limits }) =>
    (subject === EACH_USER ? [] : limits)
      .filter(({ percent }) => percent >= 80)
      .map(({ name, period, percent, spent, at_most }) => ({
        subject,
        limit: name,
        period,
        percent: percent >= 100 ? 100 : 80,
        spent,
        at_most,
      })),
  );
