import { countWait, readTimeLeft } from "#http/base/requestTime.ts";
import type { Breaker } from "#infra/postgres/breaker.ts";
import { withQueryDeadline } from "#infra/postgres/queryDeadline.ts";

export type ReadRunner = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a request's reads. They fail with 503: at once while PostgreSQL is unreachable, otherwise when the request's time is up. */
export const createReadRunner =
  (breaker: Breaker): ReadRunner =>
  (work) =>
    countWait(() => breaker(() => withQueryDeadline(readTimeLeft, work)));
