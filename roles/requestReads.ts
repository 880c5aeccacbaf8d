import { countWait, readTimeLeft } from "#http/base/requestTime.ts";
import type { Breaker } from "#infra/postgres/breaker.ts";
import { withReadTime } from "#infra/postgres/readTime.ts";

export type Read = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a request's reads. They fail with 503: at once while PostgreSQL is unreachable, otherwise when the request's time is up. */
export const createRead =
  (breaker: Breaker): Read =>
  (work) =>
    countWait(() => breaker(() => withReadTime(readTimeLeft, work)));
