import type { BudgetStatus } from "./status.ts";

/** Age of the figures that decide about a turn: turns that ended within that time are missing. */
export const MAX_AGE_MS = 1_000;
/** The sum over a day of many turns takes long: far from all limits it may take a fortieth of the time, and be this old. */
const MAX_AGE_FAR_MS = 10_000;
const LONGEST_SHARE = 1 / 40;
const FAR_PERCENT = 50;

/** How old figures may get that took so long to read. */
export function maxAge(statuses: BudgetStatus[], took_ms: number): number {
  const isFar =
    statuses.length > 0 && statuses.every(({ limits }) => limits.every(({ percent }) => percent < FAR_PERCENT));
  return isFar ? Math.min(MAX_AGE_FAR_MS, Math.max(MAX_AGE_MS, took_ms / LONGEST_SHARE)) : MAX_AGE_MS;
}
