import type { Db } from "../projection.ts";
import type { Sums } from "./limits.ts";
import { createMemory } from "./memory.ts";
import { periodsAt } from "./periods.ts";
import { listRounds, sumFinal, sumSpent, type BudgetRow } from "./query.ts";
import type { Spending } from "./reservations.ts";
import { addSums, hasModels, hasTotals, hasWeeks, sumBySubject, type EarlierSums } from "./status.ts";

/** How long the sums of past periods are kept. They change only when a turn that began in one ends later. */
const MAX_AGE_MS = 60_000;
/** The most by which the clocks of events and of readings differ. */
const CLOCKS_MS = 60_000;

/** What budgets need to know of the time before today. */
interface Needs {
  byModel: boolean;
  weeks: boolean;
  totals: boolean;
}
/** The time of a reading, and the time up to which the read model contains every event. */
type Moment = Pick<Spending, "at" | "followed_until">;
interface KnownSums extends EarlierSums {
  at: number;
  day: number;
  byModel: boolean;
}
/** Of all months that are over. */
interface EndedMonths {
  until: number;
  byModel: boolean;
  /** What no longer changes. */
  finals: Sums;
  /** Turns with rounds in these months that had not ended: their rounds count until they end, in a later month. */
  open: string[];
}

const sizeOf = ({ before, week, ever }: EarlierSums): number => before.size + (week?.size ?? 0) + (ever?.size ?? 0);
const isEnough = ({ byModel, week, ever }: KnownSums, needs: Needs): boolean =>
  byModel === needs.byModel && (!needs.weeks || week !== undefined) && (!needs.totals || ever !== undefined);

/** Sums what was spent of this month, this week and all time until today, at most once a minute. */
export function createEarlierSums(db: Db) {
  const known = createMemory<KnownSums>(sizeOf);
  const ended = createMemory<EndedMonths>(({ finals, open }) => finals.size + open.length);

  const sum = async (organization: string, from: Date, to: Date, byModel: boolean): Promise<Sums> =>
    from < to ? sumBySubject(await sumSpent(db, organization, { from, to }, byModel)) : new Map();

  /** Years of an organization take long to sum, and change no more once the read model has all of them: once in each month. */
  async function sumEnded(organization: string, month: Date, { followed_until }: Moment, byModel: boolean) {
    const until = month.getTime();
    const last = ended.get(organization);
    const kept = last?.until === until && last.byModel === byModel ? last : undefined;
    // first: a turn that ends meanwhile may count twice for a moment, and is never missing
    const rounds = await listRounds(db, organization, month, byModel, kept?.open);
    const finals = kept?.finals ?? sumBySubject(await sumFinal(db, organization, month, byModel));
    const open = rounds.map(({ turn_id }) => turn_id);
    if (kept || followed_until - until > CLOCKS_MS) ended.set(organization, { until, byModel, finals, open });
    return addSums(finals, sumBySubject(rounds));
  }

  async function read(organization: string, moment: Moment, { byModel, weeks, totals }: Needs): Promise<EarlierSums> {
    const { week, month, day } = periodsAt(new Date(moment.at));
    const before = await sum(organization, month, day, byModel);
    return {
      before,
      ...(weeks && { week: await sum(organization, week, day, byModel) }),
      ...(totals && { ever: addSums(await sumEnded(organization, month, moment, byModel), before) }),
    };
  }

  return {
    async recent(organization: string, moment: Moment, budgets: BudgetRow[]): Promise<EarlierSums> {
      const now = moment.at;
      const needs = { byModel: hasModels(budgets), weeks: hasWeeks(budgets), totals: hasTotals(budgets) };
      const day = periodsAt(new Date(now)).day.getTime();
      const last = known.get(organization);
      if (last?.day === day && now - last.at < MAX_AGE_MS && isEnough(last, needs)) return last;
      const sums = await read(organization, moment, needs);
      // turns of yesterday may still arrive in the read model
      if (now - day > MAX_AGE_MS) known.set(organization, { ...sums, at: now, day, byModel: needs.byModel });
      return sums;
    },
    forget(organization: string): void {
      known.forget(organization);
      ended.forget(organization);
    },
  };
}
