import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { currentTime } from "#events/clock.ts";
import type { EventLog } from "#events/ports.ts";
import { DAY_MS, HOUR_MS } from "#events/units.ts";
import type { Db, Projection } from "#projections/projection.ts";
import { rebuild } from "./rebuild.ts";
import { runPeriodically } from "./runPeriodically.ts";

/*
 * A deleted row disappears from every answer at once. Its bytes stay in the free space of its page until another row
 * overwrites them; VACUUM does not. So read models are periodically rebuilt in new files
 * (docs/adr/0016-rebuilds-overwrite-deleted-data.md).
 */

/** How long to wait for a moment without running turns: the frame stream can only be cleared as a whole. */
const MAX_IDLE_WAIT_MS = 10 * 60_000;
const IDLE_POLL_MS = 1_000;

const RUNNING =
  "select exists (select from log.streams where status = 'running' and stream like 'thread-%') as running";
const REQUEST_INDEX_BUILD = `
  insert into ops.index_builds select 'passages' where exists (select from ops.search_index) on conflict do nothing`;
const DUE = `
  insert into ops.scrubs as last (position) select position from log.head
  on conflict (one) do update set position = last.position
  returning position, at < now() - make_interval(secs => $1) as due`;
const DONE = "update ops.scrubs set position = $1, at = $2";

export interface ScrubOptions {
  pool: pg.Pool;
  db: Db;
  log: Pick<EventLog, "follow" | "scan">;
  projections: Projection[];
  logger: Logger;
  /** Types of events that delete something. */
  types: string[];
  /** Days between two runs. */
  days: number;
  /** Clears the bus's frame stream. */
  clearFrames(): Promise<void>;
}

async function clearFramesWhenIdle({ db, clearFrames, logger }: ScrubOptions, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + MAX_IDLE_WAIT_MS; performance.now() < until; ) {
    const [state] = await db.query<{ running: boolean }>(RUNNING);
    if (!state!.running) return clearFrames();
    await sleep(IDLE_POLL_MS, undefined, { signal });
  }
  logger.info("frame stream not cleared: turns never went idle");
}

/** The server's column statistics contain sampled values. Only a superuser can rewrite them; otherwise they stay. */
const rewriteStatistics = ({ db, logger }: ScrubOptions): Promise<unknown> =>
  db
    .query("vacuum full pg_catalog.pg_statistic")
    .catch((err: unknown) => logger.info({ err }, "PostgreSQL statistics not rewritten"));

/** Overwrites deleted data in the read models, in the passage index (which a services process rebuilds) and on the bus. */
export async function scrub(options: ScrubOptions, signal: AbortSignal): Promise<void> {
  const { pool, db, log, projections, logger } = options;
  for (const projection of projections) await rebuild({ pool, log, projection, logger, signal });
  await db.query(REQUEST_INDEX_BUILD);
  await rewriteStatistics(options);
  await clearFramesWhenIdle(options, signal);
}

/** True when the interval is over and something was deleted since the last run. */
async function isDue({ db, log, days, types }: ScrubOptions): Promise<boolean> {
  const [last] = await db.query<{ position: number; due: boolean }>(DUE, [(days * DAY_MS) / 1_000]);
  if (!last!.due) return false;
  const { events } = await log.scan(Number(last!.position), types, 1);
  return events.length > 0;
}

/** Scrubs if it is due, and returns whether it was. Data deleted meanwhile is overwritten by the next run. */
export async function scrubIfDue(options: ScrubOptions, signal: AbortSignal): Promise<boolean> {
  const { db, logger } = options;
  if (!(await isDue(options))) return false;
  const [head] = await db.query<{ position: number }>("select position from log.head");
  const at = new Date(currentTime());
  await scrub(options, signal);
  await db.query(DONE, [head!.position, at]);
  logger.info({ took_ms: currentTime() - at.getTime() }, "deleted data overwritten");
  return true;
}

/** Checks now and hourly, until the signal, whether a run is due. */
export const runScrubbing = (options: ScrubOptions, signal: AbortSignal): Promise<void> => {
  const onError = (err: unknown) => {
    if (!signal.aborted) options.logger.warn({ err }, "deleted data not overwritten, retrying in an hour");
  };
  return runPeriodically(HOUR_MS, () => scrubIfDue(options, signal), onError, signal);
};
