import { LimitName, type Reached } from "#events/budget.ts";
import { fromPicodollars, toPicodollars } from "#events/money.ts";
import type { BudgetRow, SpentRow } from "./query.ts";

/** Who a turn is counted for. */
export interface Spender {
  organization_id: string;
  principal: string;
  project_id: string | null;
  agent_id: string | null;
}

/** One limit of a budget, and what was spent of it. */
export interface LimitStatus {
  name: LimitName;
  /** Tokens, or US dollars as a decimal text. */
  at_most: string;
  spent: string;
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

/** Subjects of the budgets that a turn counts for. */
export const subjectsOf = ({ principal, project_id, agent_id }: Omit<Spender, "organization_id">): string[] => [
  "organization",
  principal,
  ...(project_id === null ? [] : [`project:${project_id}`]),
  ...(agent_id === null ? [] : [`agent:${agent_id}`]),
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

function statusOf(name: LimitName, limit: string | number, sum: bigint, now: Date): LimitStatus {
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

/** How far each limit of each budget is used up. `before`: this month until today; `today`: from then on. */
export const budgetStatuses = (
  budgets: BudgetRow[],
  { before, today }: { before: Sums; today: Sums },
  now: Date,
): BudgetStatus[] =>
  budgets.map((budget) => ({
    budget,
    limits: LimitName.options.flatMap((name) => {
      const limit = budget.limits[name];
      if (limit === undefined) return [];
      const unit = name.startsWith("cost") ? "cost" : "tokens";
      const ofToday = (today.get(budget.subject) ?? NOTHING)[unit];
      const earlier = name.endsWith("day") ? 0n : (before.get(budget.subject) ?? NOTHING)[unit];
      return [statusOf(name, limit, ofToday + earlier, now)];
    }),
  }));

/** The steps that these limits have reached: 80 or 100 percent. */
export const reachedLimits = (statuses: BudgetStatus[]): Reached[] =>
  statuses.flatMap(({ budget: { subject }, limits }) =>
    limits
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
