import { HOUR_MS } from "#events/units.ts";

/** Minimum age at which sums over much history are read again. */
export const MIN_SUM_AGE_MS = 60_000;
/** The share of the time that reading them may take. */
const MAX_SHARE = 0.01;

/**
 * How long sums that took this long to read are cached. A busy organization has millions of rows in a month: reading them once a
 * minute would keep the database busy.
 */
export const sumAgeLimit = (took_ms: number): number =>
  Math.min(Math.max(MIN_SUM_AGE_MS, took_ms / MAX_SHARE), HOUR_MS);
