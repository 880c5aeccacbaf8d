import { EACH_USER, LimitName, type Reached } from "#events/budget.ts";
import { fromPicodollars, toPicodollars } from "#events/money.ts";
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
  /** Tokens, or US dollars as a decimal text. */
  at_most: string;
  spent: string;
  /** Of money: what is held back for turns under way, in US dollars. */
  reserved?: string;
  /** Whole percent, rounded down; 100 where the limit is zero. */
  percent: number;
  /** `2026-11-23` or `2026-11`. */
  period: string;
  ends_at: Date;
}
export interface BudgetStatus {
  budget: BudgetRow;
  limits: LimitStatus[];
}

/** Moments at which a day and a month of UTC begin, and the next ones. */
export function periodsAt(now: Date) {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return {
    month: new Date(Date.UTC(year, month)),
    day: new Date(Date.UTC(year, month, day)),
    nextDay: new Date(Date.UTC(year, month, day + 1)),
    nextMonth: new Date(Date.UTC(year, month + 1)),
  };
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

/** What each subject spent; cost in picodollars. */
export type Sums = ReadonlyMap<string, { tokens: bigint; cost: bigint }>;
const NOTHING = { tokens: 0n, cost: 0n };

/** Sums once for all budgets: an organization may have a thousand of them, and as many spenders. */
export function sumBySubject(rows: SpentRow[]): Sums {
  const sums = new Map<string, { tokens: bigint; cost: bigint }>();
  for (const row of rows) {
    const tokens = BigInt(row.tokens);
    const cost = toPicodollars(row.cost ?? "0");
    for (const subject of subjectsOf(row)) {
      const sum = sums.get(subject) ?? NOTHING;
      sums.set(subject, { tokens: sum.tokens + tokens, cost: sum.cost + cost });
    }
  }
  return sums;
}

/** Whole numbers that can be compared: tokens, or picodollars. */
const toUnits = (name: LimitName, amount: string | number): bigint =>
  name.startsWith("cost") ? toPicodollars(String(amount)) : BigInt(amount);
const fromUnits = (name: LimitName, units: bigint): string =>
  name.startsWith("cost") ? fromPicodollars(units) : String(units);

function statusOf(name: LimitName, limit: string | number, sum: bigint, now: Date): Omit<LimitStatus, "reserved"> {
  const { nextDay, nextMonth } = periodsAt(now);
  const isDaily = name.endsWith("day");
  const most = toUnits(name, limit);
  return {
    name,
    at_most: fromUnits(name, most),
    spent: fromUnits(name, sum),
    percent: most === 0n ? 100 : Number((sum * 100n) / most),
    period: now.toISOString().slice(0, isDaily ? 10 : 7),
    ends_at: isDaily ? nextDay : nextMonth,
  };
}

/** Picodollars that the sums do not contain: of turns that have ended since, and held back for those under way. */
export interface Pending {
  ended: bigint;
  reserved: bigint;
}
const NOTHING_PENDING: Pending = { ended: 0n, reserved: 0n };

/** What budgets are compared with. `before`: this month until today; `today`: from then on. */
export interface Figures {
  before: Sums;
  today: Sums;
  pending?: (subject: string) => Pending;
}

export const hasMoney = (budgets: BudgetRow[]): boolean =>
  budgets.some(({ limits }) => limits.cost_per_day !== undefined || limits.cost_per_month !== undefined);

export const hasPeriods = (budgets: BudgetRow[]): boolean =>
  budgets.some(({ limits }) => LimitName.options.some((name) => limits[name] !== undefined));

/** How far each limit of a budget is used up by what one subject spent. */
export const limitStatuses = (
  { limits }: BudgetRow,
  counted: string,
  { before, today, pending }: Figures,
  now: Date,
): LimitStatus[] =>
  LimitName.options.flatMap((name) => {
    const limit = limits[name];
    if (limit === undefined) return [];
    const unit = name.startsWith("cost") ? "cost" : "tokens";
    const ofToday = (today.get(counted) ?? NOTHING)[unit];
    const earlier = name.endsWith("day") ? 0n : (before.get(counted) ?? NOTHING)[unit];
    if (unit === "tokens") return [statusOf(name, limit, ofToday + earlier, now)];
    const { ended, reserved } = pending?.(counted) ?? NOTHING_PENDING;
    const status = statusOf(name, limit, ofToday + earlier + ended, now);
    return [{ ...status, ...(pending && { reserved: fromPicodollars(reserved) }) }];
  });

/** Of a budget for each user: what the user has spent that has spent most, limit by limit. */
function mostOfUsers(budget: BudgetRow, figures: Figures, now: Date): LimitStatus[] {
  const users = new Set(
    [...figures.today.keys(), ...figures.before.keys()].filter((one) => one.startsWith(USER_SUBJECT)),
  );
  return [...users].reduce(
    (most, user) =>
      limitStatuses(budget, user, figures, now).map((one, n) => (one.percent > most[n]!.percent ? one : most[n]!)),
    limitStatuses(budget, EACH_USER, figures, now),
  );
}

/** How far each limit of each budget is used up. */
export const budgetStatuses = (budgets: BudgetRow[], figures: Figures, now: Date): BudgetStatus[] =>
  budgets.map((budget) => ({
    budget,
    limits:
      budget.subject === EACH_USER
        ? mostOfUsers(budget, figures, now)
        : limitStatuses(budget, budget.subject, figures, now),
  }));

/** The subject of a budget that a spender is counted as; undefined where the budget does not concern it. */
export const countedAs = ({ subject }: BudgetRow, subjects: string[]): string | undefined =>
  subject === EACH_USER
    ? subjects.find((one) => one.startsWith(USER_SUBJECT))
    : subjects.find((one) => one === subject);

/** The steps that these limits have reached: 80 or 100 percent. Users are personal, so what they reach is no event. */
export const reachedLimits = (statuses: BudgetStatus[]): Reached[] =>
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
