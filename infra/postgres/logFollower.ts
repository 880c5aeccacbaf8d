import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog, Hints } from "#events/ports.ts";
import type { Projection } from "#projections/projection.ts";
import { advanceFollowers, skipUnreadable } from "./advance.ts";
import { openBatches, type Batches } from "./batches.ts";
import { isServerRefusal } from "./errors.ts";
import { CheckpointMoved, createLiveSink, type LiveSink } from "./liveSink.ts";
import { loadReadModels, noReadModels, type LiveFollower } from "./readModels.ts";
import { readTables } from "./tables.ts";

/**
 * Events per transaction. Measured on two cores: 500 to 1,000 are fastest; 5,000 cost a fifth more in garbage collection. Planning
 * 1,000 blocks the event loop for 25 to 54 ms.
 */
export const BATCH_SIZE = 500;
/** Pause of a projection whose writes the database refuses (a table is missing, the disk is full). */
const RETRY_MS = 1_000;

export interface LogFollowerOptions {
  /** The connection that holds the leader's lock. Rows are written on it, so that a process without the lock cannot write. */
  client: pg.ClientBase;
  pool: pg.Pool;
  log: Pick<EventLog, "follow">;
  hints: Pick<Hints, "announceProjected">;
  projections: Projection[];
  logger: Logger;
}

/** Moves followers at the same position one batch further. Returns whether there may be more. */
async function followBatch(
  { batches, sink }: { batches: Batches; sink: LiveSink },
  group: LiveFollower[],
  limit: number,
  canPrefetch: boolean,
): Promise<boolean> {
  const after = group[0]!.position;
  const { events, more, unreadable } = await batches.read(after, limit);
  if (canPrefetch && more && !unreadable)
    batches.prefetch(events.at(-1)?.position ?? after, limit, (next) => sink.planAhead(group, next));
  if (events.length > 0) await advanceFollowers(group, events, sink);
  if (unreadable) await skipUnreadable(group, unreadable, sink);
  return more;
}

/** Moves the read models along the log for one term of the leader. */
export function openLogFollower({ client, pool, log, hints, projections, logger }: LogFollowerOptions) {
  const batches = openBatches(pool, log);
  let models = noReadModels();
  const sink = createLiveSink({ client, hints, logger }, () => models);

  async function load(): Promise<Projection[]> {
    models = await loadReadModels(client, projections);
    sink.forget();
    return models.stale;
  }

  /** After a refusal, moves each follower of the group separately. One that is refused again pauses, so that it does not block the others. */
  async function recover(group: LiveFollower[], limit: number, error: unknown): Promise<boolean> {
    if (error instanceof CheckpointMoved) {
      const stale = await load();
      if (stale.length > 0)
        logger.warn({ projections: stale.map(({ name }) => name) }, "read models have another version, not followed");
      return true;
    }
    if (!isServerRefusal(error)) throw error;
    if (group.length > 1) {
      let more = false;
      for (const follower of group) if (await follow([follower], limit, false)) more = true;
      return more;
    }
    group[0]!.retry_at = performance.now() + RETRY_MS;
    models.tables = await readTables(client, "read");
    sink.forget();
    logger.error({ err: error, projection: group[0]!.projection.name }, "projection refused by the database, retrying");
    return false;
  }

  const follow = (group: LiveFollower[], limit: number, canPrefetch: boolean): Promise<boolean> =>
    followBatch({ batches, sink }, group, limit, canPrefetch).catch((error) => recover(group, limit, error));

  return {
    /** Reads the read models' state again. Returns the projections that are missing or have another version. */
    load,
    /** The highest position of all read models. */
    position: () => Math.max(0, ...models.followers.map((one) => one.position)),
    /** Moves every read model at most one batch further. Returns whether there may be more. */
    async step(): Promise<boolean> {
      const active = models.followers.filter((one) => one.retry_at <= performance.now());
      const positions = [...new Set(active.map((one) => one.position))].sort((a, b) => a - b);
      let more = false;
      for (const [n, position] of positions.entries()) {
        const group = active.filter((one) => one.position === position);
        const limit = Math.min(BATCH_SIZE, (positions[n + 1] ?? Infinity) - position);
        if (group.length > 0 && (await follow(group, limit, positions.length === 1))) more = true;
      }
      return more;
    },
  };
}
