import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog, Hints } from "#events/ports.ts";
import type { Projection } from "#projections/projection.ts";
import { rebuild } from "./rebuild.ts";
import { openTerm } from "./term.ts";

/** How often a standby tries for the lock, and how long a runner rests after a failed rebuild. */
const STANDBY_MS = 1_000;
/** How long it waits for a database that went away; nothing is served from read models that have not come back. */
const AWAY_MS = 250;
/** Events that nobody waits for gather for so long: a turn alone then costs one transaction instead of two. */
const GATHER_MS = 20;
/** The log is looked at this often even when no hint came. */
const POLL_MS = 250;
/** A lost network must not keep the lock: the server gives the session up after 5 + 3 x 2 s of silence. */
const SESSION = `set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set statement_timeout = '60s';
  set synchronous_commit = off;
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`;

export interface ProjectorOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "follow">;
  hints: Pick<Hints, "projected" | "onCommitted" | "onWanted">;
  projections: Projection[];
  logger: Logger;
}

export interface Projector {
  /** Resolves once every read model stands at this code's version, built by this runner or another. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether this process is the one that follows the log now. */
  status(): { leading: boolean };
}

/**
 * Follows the log into the read models. One runner per database has the session lock; others stand by and take over
 * within seconds. Commit hints make it quick; the poll makes it certain.
 */
export function createProjector({ pool, log, hints, projections, logger }: ProjectorOptions): Projector {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let leading = false;
  const ready = Promise.withResolvers<void>();
  // the newest hints since the log was last looked at
  let hinted = 0;
  let wanted = 0;
  let wake = () => {};
  let hasten = () => {};
  const forget = [
    hints.onCommitted((position) => {
      hinted = Math.max(hinted, position);
      hasten();
    }),
    hints.onWanted((position) => {
      wanted = Math.max(wanted, position);
      wake();
    }),
  ];

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const somethingNew = (position: number) =>
    new Promise<void>((resolve) => {
      if (wanted > position || stopping.signal.aborted) return resolve();
      let gathering = hinted > position;
      let timer = setTimeout(() => wake(), gathering ? GATHER_MS : POLL_MS);
      hasten = () => {
        if (gathering) return;
        gathering = true;
        clearTimeout(timer);
        timer = setTimeout(() => wake(), GATHER_MS);
      };
      wake = () => {
        clearTimeout(timer);
        wake = hasten = () => {};
        resolve();
      };
    });

  /** Builds what is missing or of another version, beside the following of the rest. */
  async function build(stale: Projection[], built: () => void, over: AbortSignal): Promise<void> {
    while (stale.length > 0 && !over.aborted) {
      const projection = stale[0]!;
      try {
        await rebuild({ pool, log, projection, logger, signal: over });
        stale.shift();
        built();
      } catch (error) {
        if (over.aborted) return;
        logger.error({ err: error, projection: projection.name }, "read model not built, will be tried again");
        await pause(STANDBY_MS);
      }
    }
    if (!over.aborted) ready.resolve();
  }

  async function lead(client: pg.PoolClient, lost: AbortSignal): Promise<void> {
    const end = new AbortController();
    const over = AbortSignal.any([lost, stopping.signal, end.signal]);
    const term = openTerm({ client, pool, log, hints, projections, logger });
    let reload = false;
    const building = build(await term.load(), () => ((reload = true), wake()), over);
    try {
      while (!over.aborted) {
        if (reload) {
          reload = false;
          await term.load();
        }
        hinted = wanted = 0;
        if (!(await term.step()) && !reload && !over.aborted) await somethingNew(term.position());
      }
    } finally {
      end.abort();
      await building;
    }
  }

  /** Without the lock: is there anything that this process would have to wait for? */
  async function standBy(client: pg.PoolClient): Promise<void> {
    const { rows } = await client.query<{ name: string; version: number }>("select name, version from log.checkpoints");
    const stands = (one: Projection) => rows.some((row) => row.name === one.name && row.version === one.version);
    if (projections.every(stands)) ready.resolve();
    await pause(STANDBY_MS);
  }

  async function term(): Promise<void> {
    const client = await pool.connect();
    const lost = new AbortController();
    client.on("error", () => (lost.abort(), wake()));
    try {
      await client.query(SESSION);
      while (!stopping.signal.aborted && !lost.signal.aborted) {
        const { rows } = await client.query<{ got: boolean }>(
          "select pg_try_advisory_lock(hashtext('svc projector')) as got",
        );
        leading = rows[0]!.got;
        if (leading) await lead(client, lost.signal);
        else await standBy(client);
      }
    } finally {
      leading = false;
      lost.abort();
      client.release(true);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await term().catch(async (error) => {
        if (stopping.signal.aborted) return;
        logger.warn({ err: error }, "the projector lost its connection, will try again");
        await pause(AWAY_MS);
      });
    }
    ready.resolve();
  }

  return {
    start() {
      running ??= run();
      return ready.promise;
    },
    async stop() {
      stopping.abort();
      wake();
      for (const one of forget) one();
      await running;
    },
    status: () => ({ leading }),
  };
}
