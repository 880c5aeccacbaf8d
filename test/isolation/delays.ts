import type { Experience } from "./bystander.ts";

/** The goal is 500 ms, on a machine that is as fast as that of the table in docs/reliability.md; one of half its speed took up to 1.1 s. */
const MAX_P99_MS = 2_000;
/** Searches, uploads and runs of one step are few in a row, so their slowest counts. */
const MAX_WORK_MS = 5_000;
/** On a machine that is busy with other things, another organization may notice so much more than it does when it works alone. */
const BUSY_FACTOR = 10;
/** After an attack above the limit, the other organization works alone for this time, for comparison. */
export const QUIET_MS = 5_000;
/** Processor time of one callback of the service's event loops, without the garbage collector's and the kernel's. */
export const MAX_CALLBACK_MS = 50;

export interface DelayLimits {
  turn_ms: number;
  work_ms: number;
}

export const PROMISE: DelayLimits = { turn_ms: MAX_P99_MS, work_ms: MAX_WORK_MS };

/** The limits on a machine with these delays without an attack. */
export const limitsBeside = (quiet: Experience): DelayLimits => ({
  turn_ms: Math.max(PROMISE.turn_ms, BUSY_FACTOR * quiet.p99_ms),
  work_ms: Math.max(PROMISE.work_ms, BUSY_FACTOR * quiet.p99_ms),
});

/** The delays above their limits. */
export const findDelays = (
  { p99_ms, search_ms, upload_ms, run_ms }: Experience,
  { turn_ms, work_ms }: DelayLimits,
): string[] =>
  [
    ["turns at p99", p99_ms, turn_ms] as const,
    ["a search", search_ms, work_ms] as const,
    ["an upload", upload_ms, work_ms] as const,
    ["a run", run_ms, work_ms] as const,
  ].flatMap(([what, took = 0, limit]) => (took < limit ? [] : `${what}: ${took} ms, limit ${limit} ms`));
