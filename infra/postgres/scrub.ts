import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog } from "#events/ports.ts";
import type { Db, Projection } from "#projections/projection.ts";
import { rebuild } from "./rebuild.ts";

/*
 * A deleted row is gone from every answer at once. Its bytes stay in the free space of its page until something is written
 * there; VACUUM does not overwrite them. So read models are built anew in files of their own from time to time.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long a moment is waited for in which no turn runs: frames of running ones are still needed. */
const QUIET_WITHIN_MS = 10 * 60_000;
const QUIET_EVERY_MS = 1_000;

const RUNNING =
  "select exists (select from log.streams where status = 'running' and stream like 'thread-%') as running";
const ASK_FOR_INDEX = `
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
  /** Types of the events with which something is deleted. */
  types: string[];
  /** How often. */
  days: number;
  /** Empties what the bus keeps of turns that have ended. */
  clearFrames(): Promise<void>;
}

async function clearFramesWhenQuiet({ db, clearFrames, logger }: ScrubOptions, signal: AbortSignal): Promise<void> {
  for (const until = Date.now() + QUIET_WITHIN_MS; Date.now() < until; ) {
    const [state] = await db.query<{ running: boolean }>(RUNNING);
    if (!state!.running) return clearFrames();
    await sleep(QUIET_EVERY_MS, undefined, { signal });
  }
  logger.info("turns run all the time: frames of those that have ended are overwritten by theirs");
}

/** What the server samples of columns holds values, too. Only a superuser may, and where nobody is one it stays. */
const dropSamples = ({ db, logger }: ScrubOptions): Promise<unknown> =>
  db
    .query("vacuum full pg_catalog.pg_statistic")
    .catch((err: unknown) => logger.info({ err }, "PostgreSQL's statistics were not rewritten"));

/** Overwrites what was deleted until now: in read models, in the passage index (which services fill anew), on the bus. */
export async function scrub(options: ScrubOptions, signal: AbortSignal): Promise<void> {
  const { pool, db, log, projections, logger } = options;
  for (const projection of projections) await rebuild({ pool, log, projection, logger, signal });
  await db.query(ASK_FOR_INDEX);
  await dropSamples(options);
  await clearFramesWhenQuiet(options, signal);
}

/** Where something is to be overwritten: it is due, and something was deleted since the last time. */
async function due({ db, log, days, types }: ScrubOptions): Promise<boolean> {
  const [last] = await db.query<{ position: number; due: boolean }>(DUE, [(days * DAY_MS) / 1_000]);
  if (!last!.due) return false;
  const { events } = await log.scan(Number(last!.position), types, 1);
  return events.length > 0;
}

/** Overwrites what was deleted, where it is time; whether it was. What is deleted meanwhile is for the next time. */
export async function scrubWhenDue(options: ScrubOptions, signal: AbortSignal): Promise<boolean> {
  const { db, logger } = options;
  if (!(await due(options))) return false;
  const [head] = await db.query<{ position: number }>("select position from log.head");
  const at = new Date();
  await scrub(options, signal);
  await db.query(DONE, [head!.position, at]);
  logger.info({ took_ms: Date.now() - at.getTime() }, "what was deleted is overwritten");
  return true;
}

/** Looks once an hour whether it is time. */
export async function keepScrubbed(options: ScrubOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await scrubWhenDue(options, signal);
    } catch (err) {
      if (!signal.aborted) options.logger.warn({ err }, "what was deleted could not be overwritten, it is tried again");
    }
    await sleep(HOUR_MS, undefined, { signal }).catch(() => {});
  }
}
