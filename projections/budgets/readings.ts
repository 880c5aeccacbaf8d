import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import type { BudgetStep } from "#events/budget.ts";
import { createFigures, NO_BUDGET_READING, type FigureOptions, type BudgetReading } from "./figures.ts";
import { watchTable } from "../tableChanges.ts";
import { createSharedLoader, createOrganizationCache } from "./organizationCache.ts";
import { budgetStatuses, reachedLimits, type BudgetStatus } from "./status.ts";

/** Maximum age of figures that decide about a turn: turns that ended since are missing. */
const MAX_AGE_MS = 1_000;
/** Below this share used, budgets are far from their limits. */
const FAR_PERCENT = 50;
/**
 * If an organization is far from its limits, or has none, its turns never wait: figures are read in the background, unless it was
 * idle for longer than this. Money stays exact, because newer turns are added to the figures.
 */
const MAX_IDLE_MS = 60_000;
/** How long a turn waits for figures. Then the last known ones decide, so that a slow database does not block turns. */
const MAX_WAIT_MS = 2_000;

/** Resolves with `last` if the reading fails or takes longer than MAX_WAIT_MS. */
export async function withFallback<T>(reading: Promise<T>, last: T): Promise<T> {
  const timer = new AbortController();
  try {
    return await Promise.race([reading.catch(() => last), sleep(MAX_WAIT_MS, last, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

export const statusesOf = ({ budgets, at, ...figures }: BudgetReading): Promise<BudgetStatus[]> =>
  budgetStatuses(budgets, figures, new Date(at));

const isFar = (statuses: BudgetStatus[]): boolean =>
  statuses.length > 0 && statuses.every(({ limits }) => limits.every(({ percent }) => percent < FAR_PERCENT));

interface ReadingOptions extends FigureOptions {
  onError(error: unknown): void;
}

/** Caches the figures of each organization's budgets, and decides when to read them again. */
export function createBudgetReadings(
  options: ReadingOptions,
  reportReached: (organization: string, reached: BudgetStep[]) => void,
) {
  const figures = createFigures(options);
  const known = createOrganizationCache<BudgetReading>(({ budgets, today }) => budgets.length + today.size);
  const far = new WeakSet<BudgetReading>();
  const changes = watchTable(options.db, "budgets");
  /** When the newest turn of an organization ended. Removed once figures that include it are read. */
  const lastEnds = new Map<string, number>();
  const lastOf = (organization: string): BudgetReading => known.get(organization) ?? NO_BUDGET_READING;
  const loader = createSharedLoader(async (organization) => {
    const reading = await changes.read(() => figures.read(organization, currentTime()));
    // first, because the statuses of many users take their time
    known.set(organization, reading);
    const statuses = await statusesOf(reading);
    if (isFar(statuses)) far.add(reading);
    reportReached(organization, reachedLimits(statuses));
    return reading;
  }, options.onError);
  function awaitQuiet(organization: string): void {
    const look = () => {
      if (currentTime() - lastEnds.get(organization)! < MAX_AGE_MS) return awaitQuiet(organization);
      lastEnds.delete(organization);
      // the loader logs a failure
      loader.load(organization).catch(() => {});
    };
    setTimeout(look, MAX_AGE_MS).unref();
  }
  return {
    lastOf,
    /** Whether less than half of every limit is used, for every spender. */
    isFar: (reading: BudgetReading): boolean => far.has(reading),
    async recent(organization: string): Promise<BudgetReading> {
      const last = lastOf(organization);
      const age = currentTime() - last.at;
      if (age < MAX_AGE_MS || (last.budgets.length === 0 && changes.isUnchanged(last))) return last;
      const reading = loader.load(organization);
      if ((last.budgets.length === 0 || far.has(last)) && age <= MAX_IDLE_MS) return last;
      // figures are known before the statuses of many users, which may take too long
      return (await withFallback<BudgetReading | undefined>(reading, undefined)) ?? lastOf(organization);
    },
    /** Reads the figures once no turn has ended for a second, so that a burst of turns costs one query. */
    lookLater(organization: string): void {
      if (lastOf(organization).budgets.length === 0) return;
      const isAwaited = lastEnds.has(organization);
      lastEnds.set(organization, currentTime());
      if (!isAwaited) awaitQuiet(organization);
    },
    /** Reads the whole day again, after any running reading, which may have begun before the caller's change. */
    async whole(organization: string): Promise<BudgetReading> {
      await loader.running(organization)?.catch(() => {});
      figures.forget(organization);
      return loader.load(organization);
    },
  };
}
