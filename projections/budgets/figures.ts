import type { Db } from "../projection.ts";
import type { Sums } from "./limits.ts";
import { createMemory } from "./memory.ts";
import { periodsAt } from "./periods.ts";
import { listBudgets, sumSpent, type BudgetRow } from "./query.ts";
import { readSpending } from "./readSpending.ts";
import { Reservations, type Spending } from "./reservations.ts";
import { readPrices, type PriceOf } from "./reserve.ts";
import { hasMoney, hasPeriods, sumBySubject, type Figures } from "./status.ts";

/** Earlier days of the month change only where a turn of theirs ends today. */
const MAX_AGE_OF_PAST_MS = 60_000;

export interface FigureOptions {
  db: Db;
  /** Turns of which the process does not know whether the read models contain their end. */
  unsettled?(organization: string): string[];
}

/** The budgets of an organization with what they are compared with, and when it was read. */
export interface Reading extends Figures {
  at: number;
  budgets: BudgetRow[];
  /** Where a budget has a limit of a day or a month. */
  spending?: Spending;
  /** Where one has a limit of money. */
  priceOf?: PriceOf;
}
export const NO_READING: Reading = { at: Number.NEGATIVE_INFINITY, budgets: [], before: new Map(), today: new Map() };

/** Sums what an organization spent, its earlier days of the month at most once a minute. */
export function createFigures({ db, unsettled }: FigureOptions) {
  const pasts = createMemory<{ at: number; day: number; sums: Sums }>(({ sums }) => sums.size);

  async function readPast(organization: string, { month, day }: ReturnType<typeof periodsAt>, now: number) {
    const known = pasts.get(organization);
    if (known && known.day === day.getTime() && now - known.at < MAX_AGE_OF_PAST_MS) return known.sums;
    const sums = month < day ? sumBySubject(await sumSpent(db, organization, month, day)) : new Map();
    // turns of yesterday may still arrive in the read model
    if (now - day.getTime() > MAX_AGE_OF_PAST_MS) pasts.set(organization, { at: now, day: day.getTime(), sums });
    return sums;
  }
  /** The past last: what moves there at midnight may count twice for a moment, and is never missing. */
  async function readSums(organization: string, now: number): Promise<Spending> {
    const periods = periodsAt(new Date(now));
    const range = { from: periods.day, to: periods.nextDay, asked: unsettled?.(organization) ?? [] };
    const { spent, ...today } = await readSpending(db, organization, range);
    return { ...today, today: sumBySubject(spent), before: await readPast(organization, periods, now) };
  }
  return {
    async read(organization: string, now: number): Promise<Reading> {
      const budgets = await listBudgets(db, organization);
      if (!hasPeriods(budgets)) return { ...NO_READING, at: now, budgets };
      const [spending, priceOf] = await Promise.all([
        readSums(organization, now),
        hasMoney(budgets) ? readPrices(db, organization) : undefined,
      ]);
      const { before, today } = spending;
      const reserved = new Reservations();
      reserved.apply(spending, now);
      const pending = (subject: string) => reserved.of(subject);
      return { at: now, budgets, before, today, pending, spending, ...(priceOf && { priceOf }) };
    },
    forget: pasts.forget,
  };
}
