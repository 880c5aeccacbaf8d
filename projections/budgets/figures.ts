import type { Db } from "../projection.ts";
import type { Sums } from "./limits.ts";
import { createMemory } from "./memory.ts";
import { periodsAt } from "./periods.ts";
import { listBudgets, sumSpent, type BudgetRow } from "./query.ts";
import { readSpending } from "./readSpending.ts";
import { Reservations, type Spending } from "./reservations.ts";
import { readPrices, type PriceOf } from "./reserve.ts";
import { addSums, hasMoney, hasPeriods, sumBySubject, type Figures } from "./status.ts";

/** How long the sums of a time that is over are kept. They change only where a turn of it ends later. */
const MAX_AGE_OF_PAST_MS = 60_000;
/** The times of events follow their order, except where the clock of the database was set. */
const MAX_CLOCK_STEP_MS = 1_000;

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
const NOTHING: Sums = new Map();
export const NO_READING: Reading = { at: Number.NEGATIVE_INFINITY, budgets: [], before: new Map(), today: new Map() };

/** What was spent of a day until a moment. */
interface EarlySums {
  /** When the first of it was read. */
  at: number;
  day: number;
  until: Date;
  sums: Sums;
  /** The rows of all events until then were in the read model. */
  followed_at: Date;
}

/**
 * Sums what was spent today. The sum over a day of many turns takes long, so while budgets are far from their limits only what
 * was added since the last reading is read, and all of it once a minute. Rounds of turns that have ended since may count twice
 * until then; nothing is missing.
 */
function createToday(db: Db) {
  const kept = createMemory<EarlySums>(({ sums }) => sums.size);
  return {
    async read(organization: string, { at, asked, isFar }: { at: number; asked: string[]; isFar: boolean }) {
      const { day, nextDay } = periodsAt(new Date(at));
      const known = kept.get(organization);
      const last = known?.day === day.getTime() ? known : undefined;
      const usable = last && isFar && at - last.at < MAX_AGE_OF_PAST_MS ? last : undefined;
      const from = usable?.until ?? day;
      const split = new Date(Math.max(from.getTime(), (last?.followed_at.getTime() ?? 0) - MAX_CLOCK_STEP_MS));
      const { early, late, followed_at, ...rest } = await readSpending(db, organization, {
        day,
        nextDay,
        from,
        split,
        asked,
      });
      const sums = addSums(usable?.sums ?? NOTHING, sumBySubject(early));
      const part = { at: usable?.at ?? at, day: day.getTime(), until: split, sums };
      kept.set(organization, { ...part, followed_at: followed_at ?? day });
      return { ...rest, today: addSums(sums, sumBySubject(late)) };
    },
  };
}

/** Sums what an organization spent, its earlier days of the month at most once a minute. */
export function createFigures({ db, unsettled }: FigureOptions) {
  const pasts = createMemory<{ at: number; day: number; sums: Sums }>(({ sums }) => sums.size);
  const today = createToday(db);

  async function readPast(organization: string, now: number): Promise<Sums> {
    const { month, day } = periodsAt(new Date(now));
    const known = pasts.get(organization);
    if (known && known.day === day.getTime() && now - known.at < MAX_AGE_OF_PAST_MS) return known.sums;
    const sums = month < day ? sumBySubject(await sumSpent(db, organization, month, day)) : new Map();
    // turns of yesterday may still arrive in the read model
    if (now - day.getTime() > MAX_AGE_OF_PAST_MS) pasts.set(organization, { at: now, day: day.getTime(), sums });
    return sums;
  }
  /** The past last: what moves there at midnight may count twice for a moment, and is never missing. */
  async function readSums(organization: string, at: number, isFar: boolean): Promise<Spending> {
    const asked = unsettled?.(organization) ?? [];
    const spending = await today.read(organization, { at, asked, isFar });
    return { ...spending, before: await readPast(organization, at) };
  }
  return {
    /** `isFar`: the budgets were far from their limits a moment ago. */
    async read(organization: string, now: number, isFar: boolean): Promise<Reading> {
      const budgets = await listBudgets(db, organization);
      if (!hasPeriods(budgets)) return { ...NO_READING, at: now, budgets };
      const [spending, priceOf] = await Promise.all([
        readSums(organization, now, isFar),
        hasMoney(budgets) ? readPrices(db, organization) : undefined,
      ]);
      const { before, today: spent } = spending;
      const reserved = new Reservations();
      reserved.apply(spending, now);
      const pending = (subject: string) => reserved.of(subject);
      return { at: now, budgets, before, today: spent, pending, spending, ...(priceOf && { priceOf }) };
    },
    forget: pasts.forget,
  };
}
