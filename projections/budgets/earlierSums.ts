import type { Db } from "../projection.ts";
import type { Sums } from "./limits.ts";
import { createOrganizationCache } from "./organizationCache.ts";
import { periodsAt } from "./periods.ts";
import { listRounds, sumFinal, sumSpent, type BudgetRow, type SplitBy } from "./query.ts";
import type { Spending } from "./reservations.ts";
import { MIN_SUM_AGE_MS, sumAgeLimit } from "./sumAge.ts";
import { hasTotals, hasWeeks, isSameSplit, splitFor, type EarlierSums } from "./status.ts";
import { addSums, sumInSlices } from "./sums.ts";

/** Maximum difference between the clocks of events and of readings. */
const CLOCKS_MS = 60_000;

/** Which earlier sums budgets need. */
interface Needs {
  splitBy: SplitBy;
  weeks: boolean;
  totals: boolean;
}
/** When a reading was taken, and the time up to which the read model contains all events. */
type Moment = Pick<Spending, "at" | "followed_until">;
interface KnownSums extends EarlierSums {
  at: number;
  max_age_ms: number;
  day: number;
  splitBy: SplitBy;
}
/** Sums of all months that are over. */
interface EndedMonths {
  until: number;
  splitBy: SplitBy;
  /** Sums that no longer change. */
  finals: Sums;
  /** Ids of turns with rounds in these months that had not ended. Their rounds count until they end in a later month. */
  open: string[];
}

const sizeOf = ({ before, week, ever }: EarlierSums): number => before.size + (week?.size ?? 0) + (ever?.size ?? 0);
const isEnough = ({ splitBy, week, ever }: KnownSums, needs: Needs): boolean =>
  isSameSplit(splitBy, needs.splitBy) && (!needs.weeks || week !== undefined) && (!needs.totals || ever !== undefined);

/** Sums the spending of this month, this week and all time, until today: once a minute, or more rarely if that takes long. */
export function createEarlierSums(db: Db) {
  const known = createOrganizationCache<KnownSums>(sizeOf);
  const ended = createOrganizationCache<EndedMonths>(({ finals, open }) => finals.size + open.length);

  const sum = async (organization: string, from: Date, to: Date, splitBy: SplitBy): Promise<Sums> =>
    from < to ? sumInSlices(await sumSpent(db, organization, { from, to }, splitBy)) : new Map();

  /** Sums ended months, once a month. Summing years takes long, and the sums are final once the read model is complete. */
  async function sumEnded(organization: string, month: Date, { followed_until }: Moment, splitBy: SplitBy) {
    const until = month.getTime();
    const last = ended.get(organization);
    const kept = last?.until === until && isSameSplit(last.splitBy, splitBy) ? last : undefined;
    // first, because a turn that ends meanwhile may then count twice for a moment, but is never missing
    const rounds = await listRounds(db, organization, month, splitBy, kept?.open);
    const finals = kept?.finals ?? (await sumInSlices(await sumFinal(db, organization, month, splitBy)));
    const open = rounds.map(({ turn_id }) => turn_id);
    if (kept || followed_until - until > CLOCKS_MS) ended.set(organization, { until, splitBy, finals, open });
    return addSums(finals, await sumInSlices(rounds));
  }

  async function read(organization: string, moment: Moment, { splitBy, weeks, totals }: Needs): Promise<EarlierSums> {
    const { week, month, day } = periodsAt(new Date(moment.at));
    const before = await sum(organization, month, day, splitBy);
    return {
      before,
      ...(weeks && { week: await sum(organization, week, day, splitBy) }),
      ...(totals && { ever: await addSums(await sumEnded(organization, month, moment, splitBy), before) }),
    };
  }

  return {
    async recent(organization: string, moment: Moment, budgets: BudgetRow[]): Promise<EarlierSums> {
      const { at: now, followed_until } = moment;
      const needs = { splitBy: splitFor(budgets), weeks: hasWeeks(budgets), totals: hasTotals(budgets) };
      const day = periodsAt(new Date(now)).day.getTime();
      const last = known.get(organization);
      if (last?.day === day && now - last.at < last.max_age_ms && isEnough(last, needs)) return last;
      const started = performance.now();
      const sums = await read(organization, moment, needs);
      // once complete, they only shrink: at the end of a turn that began in a past period
      const isComplete = followed_until - day > CLOCKS_MS;
      const max_age_ms = isComplete ? sumAgeLimit(performance.now() - started) : MIN_SUM_AGE_MS;
      // turns of yesterday may still reach the read model
      if (now - day > MIN_SUM_AGE_MS)
        known.set(organization, { ...sums, at: now, max_age_ms, day, splitBy: needs.splitBy });
      return sums;
    },
    forget(organization: string): void {
      known.forget(organization);
      ended.forget(organization);
    },
  };
}
