import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog, Hints } from "#events/ports.ts";
import type { Projection } from "#projections/projection.ts";
import { createCommitWaiter, type CommitWaiter } from "./commitWaiter.ts";
import { runAsLeader } from "./leader.ts";
import { openLogFollower } from "./logFollower.ts";
import { rebuild } from "./rebuild.ts";
import { createStatistics } from "./statistics.ts";

/** Pause before a failed rebuild is tried again. */
const REBUILD_RETRY_MS = 1_000;
/** Pause before a lost leader reconnects. Shorter than for other leaders, because until then read models fall behind. */
const RECONNECT_MS = 250;
const SESSION = "set plan_cache_mode = force_generic_plan; set statement_timeout = '60s'; set synchronous_commit = off";

export interface ProjectorOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "follow">;
  hints: Pick<Hints, "announceProjected" | "onCommitted" | "onRequested">;
  projections: Projection[];
  logger: Logger;
}

export interface Projector {
  /** Resolves when every read model has this code's version, whichever process built it. */
  start(): Promise<void>;
  stop(): Promise<void>;
  status(): { leading: boolean };
}

/** Builds read models that are missing or have another version, until the signal. Returns whether all are built. */
async function buildStale(
  { pool, log, logger }: Pick<ProjectorOptions, "pool" | "log" | "logger">,
  stale: Projection[],
  onBuilt: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  for (const projection of stale) {
    for (let isBuilt = false; !isBuilt; ) {
      if (signal.aborted) return false;
      try {
        await rebuild({ pool, log, projection, logger, signal });
        isBuilt = true;
        onBuilt();
      } catch (error) {
        if (signal.aborted) return false;
        logger.error({ err: error, projection: projection.name }, "read model not built, retrying");
        await sleep(REBUILD_RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
  return !signal.aborted;
}

/** Follows the log until the signal, and builds stale read models meanwhile. */
async function followLog(
  options: ProjectorOptions & { client: pg.PoolClient; commits: CommitWaiter; onAllBuilt(): void },
  lost: AbortSignal,
): Promise<void> {
  const { client, commits, onAllBuilt } = options;
  await client.query(SESSION);
  const ended = new AbortController();
  const signal = AbortSignal.any([lost, ended.signal]);
  signal.addEventListener("abort", commits.wake);
  const follower = openLogFollower(options);
  const statistics = createStatistics(options.pool, options.logger);
  let hasNewModel = false;
  const onBuilt = () => {
    hasNewModel = true;
    commits.wake();
  };
  const building = buildStale(options, await follower.load(), onBuilt, signal).then((allBuilt) => {
    if (allBuilt) onAllBuilt();
  });
  try {
    while (!signal.aborted) {
      if (hasNewModel) {
        hasNewModel = false;
        await follower.load();
      }
      commits.reset();
      const more = await follower.step();
      statistics.noteProgress(follower.position());
      if (!more && !hasNewModel && !signal.aborted) await commits.waitAfter(follower.position());
    }
  } finally {
    ended.abort();
    await building;
    await statistics.finish();
  }
}

/**
 * Projects the log into the read models, in one process per database. Others stand by and take over within seconds. Commit hints
 * make it fast, polling makes it reliable.
 */
export function createProjector(options: ProjectorOptions): Projector {
  const { pool, projections, logger } = options;
  const ready = Promise.withResolvers<void>();
  const commits = createCommitWaiter(options.hints);
  let isLeading = false;
  let leadership: ReturnType<typeof runAsLeader> | undefined;

  async function runTerm(signal: AbortSignal, client: pg.PoolClient): Promise<void> {
    isLeading = true;
    try {
      await followLog({ ...options, client, commits, onAllBuilt: ready.resolve }, signal);
    } finally {
      isLeading = false;
    }
  }

  /** Resolves `start` when the leader has built everything that this process needs. */
  async function standBy(): Promise<void> {
    const { rows } = await pool.query<{ name: string; version: number }>("select name, version from log.checkpoints");
    const isBuilt = (one: Projection) => rows.some((row) => row.name === one.name && row.version === one.version);
    if (projections.every(isBuilt)) ready.resolve();
  }

  const onError = (err: unknown) => logger.warn({ err }, "projector lost its connection, reconnecting");
  return {
    start() {
      leadership ??= runAsLeader(pool, "projector", runTerm, onError, { standBy, retry_ms: RECONNECT_MS });
      return ready.promise;
    },
    async stop() {
      commits.close();
      await leadership?.stop();
      ready.resolve();
    },
    status: () => ({ leading: isLeading }),
  };
}
