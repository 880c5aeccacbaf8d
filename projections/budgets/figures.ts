import { isDeepStrictEqual } from "node:util";
import type { Db } from "../projection.ts";
import { createEarlierSums } from "./earlierSums.ts";
import type { Sums } from "./limits.ts";
import { createOrganizationCache } from "./organizationCache.ts";
import { periodsAt } from "./periods.ts";
import { listBudgets, type BudgetRow, type SpentRow, type SplitBy } from "./query.ts";
import { readSpending, type DaySpending } from "./readSpending.ts";
import { newestReservation, NO_RESERVATION, Reservations, type Reservation, type Spending } from "./reservations.ts";
import { readPrices, type DeploymentProvider, type PriceOf } from "./reserve.ts";
import { sumAgeLimit } from "./sumAge.ts";
import { hasMoney, hasPeriods, isSameSplit, splitFor, type BudgetFigures } from "./status.ts";
import { addSums, sumInSlices } from "./sums.ts";

export interface FigureOptions {
  db: Db;
  deployment?: readonly DeploymentProvider[];
  /** Ids of turns whose end may be missing from the read models, as far as this process knows. */
  unsettled?(organization: string): string[];
  /** What a running turn reserves now, in picodollars. The read model only has its reservation of when it began or was parked. */
  reservationOf?(organization: string, turn_id: string): Reservation;
}

/** An organization's budgets, what they are compared with, and when it was read. */
export interface BudgetReading extends BudgetFigures {
  at: number;
  budgets: BudgetRow[];
  /** Present if a budget limits money by time. */
  spending?: Spending;
  /** Present if a budget limits money. */
  priceOf?: PriceOf;
}
const NOTHING: Sums = new Map();
export const NO_BUDGET_READING: BudgetReading = {
  at: Number.NEGATIVE_INFINITY,
  budgets: [],
  before: new Map(),
  today: new Map(),
};

/** The spending of a day until a moment, including all events until then. */
interface EarlySums {
  /** When the first part of it was read, and how long it is cached. */
  at: number;
  max_age_ms: number;
  day: number;
  until: Date;
  splitBy: SplitBy;
  sums: Sums;
  /** By turn: the part of the sums that belongs to turns that had not ended. It is removed when they end, and the whole turn is counted then. */
  rounds: ReadonlyMap<string, SpentRow[]>;
}

interface WantedDay {
  at: number;
  turnsToLookUp: string[];
  splitBy: SplitBy;
}

/** The sums until a moment, plus what a later reading adds, minus rounds of turns that have ended since. */
async function continueSums(
  { sums, rounds }: Pick<EarlySums, "sums" | "rounds">,
  { early, rounds: added, without_rounds }: Pick<DaySpending, "early" | "rounds" | "without_rounds">,
): Promise<Pick<EarlySums, "sums" | "rounds">> {
  const kept = new Map(rounds);
  const gone = without_rounds.flatMap((turn_id) => kept.get(turn_id) ?? []);
  for (const turn_id of without_rounds) kept.delete(turn_id);
  for (const row of added) kept.set(row.turn_id, [...(kept.get(row.turn_id) ?? []), row]);
  const left = await addSums(sums, await sumInSlices(gone), -1n);
  return { sums: await addSums(left, await sumInSlices(early)), rounds: kept };
}
const NO_EARLY_SUMS = { sums: NOTHING, rounds: new Map<string, SpentRow[]>() };

/**
 * Sums today's spending. A sum over all turns of a day takes long, so a reading continues where the last one was complete. The
 * whole day is read again once a minute, more rarely if that takes long, and after the database's clock has stepped back, because
 * newer events are then in the part that was read.
 */
function createToday(db: Db) {
  const kept = createOrganizationCache<EarlySums>(({ sums, rounds }) => sums.size + rounds.size);
  return {
    async read(organization: string, { at, turnsToLookUp, splitBy }: WantedDay) {
      const { day, nextDay } = periodsAt(new Date(at));
      const known = kept.get(organization);
      const isSameDay = known?.day === day.getTime() && isSameSplit(known.splitBy, splitBy);
      const last = isSameDay && at - known.at < known.max_age_ms ? known : undefined;
      const from = last?.until ?? day;
      const started = performance.now();
      const wanted = { day, nextDay, from, turnsToLookUp, splitBy, with_rounds: [...(last?.rounds.keys() ?? [])] };
      const { early, late, split, is_complete, rounds, without_rounds, ...rest } = await readSpending(
        db,
        organization,
        wanted,
      );
      const hasSteppedBack = last !== undefined && split !== null && split < from;
      const max_age_ms = hasSteppedBack ? 0 : (last?.max_age_ms ?? sumAgeLimit(performance.now() - started));
      const until = new Date(Math.max(from.getTime(), Math.min(split?.getTime() ?? 0, nextDay.getTime())));
      const continued = await continueSums(last ?? NO_EARLY_SUMS, { early, rounds, without_rounds });
      kept.set(organization, { at: last?.at ?? at, max_age_ms, day: day.getTime(), until, splitBy, ...continued });
      const followed_until = is_complete ? at : (split?.getTime() ?? 0);
      return { ...rest, at, followed_until, today: await addSums(continued.sums, await sumInSlices(late)) };
    },
    forget: kept.forget,
  };
}

/** Sums an organization's spending, and reads the prices of its models. */
export function createFigures({ db, deployment = [], unsettled, reservationOf = () => NO_RESERVATION }: FigureOptions) {
  const earlier = createEarlierSums(db);
  const today = createToday(db);
  const lastBudgets = createOrganizationCache<BudgetRow[]>((budgets) => budgets.length);

  /** Unchanged budgets keep their rows, because the limits of each spender are cached by them. */
  async function readBudgets(organization: string): Promise<BudgetRow[]> {
    const budgets = await listBudgets(db, organization);
    const last = lastBudgets.get(organization);
    if (last && isDeepStrictEqual(last, budgets)) return last;
    lastBudgets.set(organization, budgets);
    return budgets;
  }

  /** Reads past sums last: what moves into them at midnight may count twice for a moment, but is never missing. */
  async function readSums(organization: string, budgets: BudgetRow[], at: number): Promise<Spending> {
    const turnsToLookUp = unsettled?.(organization) ?? [];
    const spending = await today.read(organization, { at, turnsToLookUp, splitBy: splitFor(budgets) });
    const { before, week, ever } = await earlier.recent(organization, spending, budgets);
    const open = spending.open.map((turn) => ({
      ...turn,
      ...newestReservation(turn, reservationOf(organization, turn.turn_id)),
    }));
    return { ...spending, open, before, ...(week && { week }), ...(ever && { ever }) };
  }
  return {
    async read(organization: string, now: number): Promise<BudgetReading> {
      const budgets = await readBudgets(organization);
      if (!hasPeriods(budgets)) return { ...NO_BUDGET_READING, at: now, budgets };
      const [spending, priceOf] = await Promise.all([
        readSums(organization, budgets, now),
        hasMoney(budgets) ? readPrices(db, organization, deployment) : undefined,
      ]);
      const { before, week, ever, today: spent } = spending;
      const reserved = new Reservations();
      reserved.apply(spending, now);
      const sums = { before, today: spent, ...(week && { week }), ...(ever && { ever }) };
      return { at: now, budgets, ...sums, pending: reserved, spending, ...(priceOf && { priceOf }) };
    },
    /** Makes the next reading sum everything again. */
    forget(organization: string): void {
      earlier.forget(organization);
      today.forget(organization);
    },
  };
}
