import type { Db } from "../projection.ts";
import type { Sums } from "./limits.ts";
import { createMemory } from "./memory.ts";
import { periodsAt } from "./periods.ts";
import { sumSpent, type BudgetRow } from "./query.ts";
import { addSums, hasModels, hasTotals, hasWeeks, sumBySubject, type EarlierSums } from "./status.ts";

/** How long the sums of a time that is over are kept. They change only where a turn of it ends later. */
const MAX_AGE_MS = 60_000;
const BEGINNING = new Date(0);

/** What budgets need to know of the time before today. */
interface Needs {
  byModel: boolean;
  weeks: boolean;
  totals: boolean;
}
interface KnownSums extends EarlierSums {
  at: number;
  day: number;
  byModel: boolean;
}
/** Of all months that are over. */
interface EndedMonths {
  until: number;
  byModel: boolean;
  sums: Sums;
}

const sizeOf = ({ before, week, ever }: EarlierSums): number => before.size + (week?.size ?? 0) + (ever?.size ?? 0);
const isEnough = ({ byModel, week, ever }: KnownSums, needs: Needs): boolean =>
  byModel === needs.byModel && (!needs.weeks || week !== undefined) && (!needs.totals || ever !== undefined);

/** Sums what was spent of this month, this week and all time until today, at most once a minute. */
export function createEarlierSums(db: Db) {
  const known = createMemory<KnownSums>(sizeOf);
  const ended = createMemory<EndedMonths>(({ sums }) => sums.size);

  const sum = async (organization: string, from: Date, to: Date, byModel: boolean): Promise<Sums> =>
    from < to ? sumBySubject(await sumSpent(db, organization, { from, to }, byModel)) : new Map();

  /** Years of an organization take long to sum, and change no more: once in each month. */
  async function sumEnded(organization: string, month: Date, { now, byModel }: { now: number; byModel: boolean }) {
    const last = ended.get(organization);
    if (last?.until === month.getTime() && last.byModel === byModel) return last.sums;
    const sums = await sum(organization, BEGINNING, month, byModel);
    if (now - month.getTime() > MAX_AGE_MS) ended.set(organization, { until: month.getTime(), byModel, sums });
    return sums;
  }

  async function read(organization: string, now: number, { byModel, weeks, totals }: Needs): Promise<EarlierSums> {
    const { week, month, day } = periodsAt(new Date(now));
    const before = await sum(organization, month, day, byModel);
    return {
      before,
      ...(weeks && { week: await sum(organization, week, day, byModel) }),
      ...(totals && { ever: addSums(await sumEnded(organization, month, { now, byModel }), before) }),
    };
  }

  return {
    async recent(organization: string, now: number, budgets: BudgetRow[]): Promise<EarlierSums> {
      const needs = { byModel: hasModels(budgets), weeks: hasWeeks(budgets), totals: hasTotals(budgets) };
      const day = periodsAt(new Date(now)).day.getTime();
      const last = known.get(organization);
      if (last?.day === day && now - last.at < MAX_AGE_MS && isEnough(last, needs)) return last;
      const sums = await read(organization, now, needs);
      // turns of yesterday may still arrive in the read model
      if (now - day > MAX_AGE_MS) known.set(organization, { ...sums, at: now, day, byModel: needs.byModel });
      return sums;
    },
    forget: known.forget,
  };
}
