import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog } from "#events/ports.ts";
import type { Projection } from "#projections/projection.ts";
import { advanceFollowers, collectChanges, skipUnreadable, type Sink } from "./advance.ts";
import { openBatches, type Batches } from "./batches.ts";
import { foldChanges } from "./foldChanges.ts";
import { BATCH_SIZE } from "./logFollower.ts";
import { logParked, parkedStream } from "./parked.ts";
import { createPlanner, type Planner } from "./planAhead.ts";
import { swapIn, type ReadModelCopy } from "./swap.ts";
import { createTables, readTables } from "./tables.ts";
import { attributePlanError } from "./errors.ts";
import { planRounds, writePlan } from "./writePlan.ts";

const MAX_SWAP_ATTEMPTS = 100;
const SWAP_PAUSE_MS = 100;
const LOCK_PAUSE_MS = 200;
// the swap commits synchronously, which flushes all earlier commits as well
const SESSION = "set plan_cache_mode = force_generic_plan; set synchronous_commit = off";

export interface RebuildOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "follow">;
  projection: Projection;
  logger: Logger;
  /** Called after each batch with the copy's position, and the log's last position at the start. */
  onProgress?: (progress: { position: number; head: number }) => void;
  signal?: AbortSignal;
}

type CopySink = Sink<ReadModelCopy> & Pick<Planner<ReadModelCopy, unknown>, "planAhead">;

function copyInto(client: pg.ClientBase, copy: ReadModelCopy, logger: Logger): CopySink {
  const planner = createPlanner((_: ReadModelCopy[], events) => copy.plan(events));
  return {
    planAhead: planner.planAhead,
    async write(followers, events, to) {
      await writePlan(client, planner.plan(followers, events));
      copy.position = to;
    },
    async park(_, event, error) {
      copy.parked.add(event.stream);
      planner.forget();
      copy.newlyParked.push(parkedStream(event, error));
      copy.position = event.position;
      logParked(logger, copy.projection, event, error);
    },
  };
}

/** Follows the log until it is within one batch of the newest event. */
async function catchUp(copy: ReadModelCopy, batches: Batches, sink: CopySink, options: RebuildOptions): Promise<void> {
  const { rows } = await options.pool.query<{ position: number }>("select position from log.head");
  const head = rows[0]!.position;
  for (let more = true; more; ) {
    options.signal?.throwIfAborted();
    const batch = await batches.read(copy.position, BATCH_SIZE);
    more = batch.more;
    if (more && !batch.unreadable)
      batches.prefetch(batch.events.at(-1)!.position, BATCH_SIZE, (next) => sink.planAhead([copy], next));
    if (batch.events.length > 0) await advanceFollowers([copy], batch.events, sink);
    if (batch.unreadable) await skipUnreadable([copy], batch.unreadable, sink);
    options.onProgress?.({ position: copy.position, head: Math.max(head, copy.position) });
  }
}

/** Waits until no other process rebuilds this projection. */
async function lockRebuild(client: pg.ClientBase, name: string, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ got: boolean }>(
      "select pg_try_advisory_lock(hashtext('svc rebuild'), hashtext($1)) as got",
      [name],
    );
    if (rows[0]!.got) return;
    signal?.throwIfAborted();
    await sleep(LOCK_PAUSE_MS);
  }
}

/**
 * Builds a read model from position 0 in its own schema while the old one keeps serving and following. Then swaps it in, in one
 * transaction that also clears parked streams. A second call for the same projection waits for the first. Resolves with the
 * position of the swap.
 */
export async function rebuild(options: RebuildOptions): Promise<{ position: number }> {
  const { pool, log, projection, logger } = options;
  const client = await pool.connect();
  let isLost = false;
  client.on("error", () => (isLost = true));
  try {
    await lockRebuild(client, projection.name, options.signal);
    await client.query(SESSION);
    const schema = `rebuild_${projection.name}`;
    await createTables(client, projection, schema);
    const tables = await readTables(client, schema);
    const copy: ReadModelCopy = {
      projection,
      position: 0,
      parked: new Set(),
      schema,
      tables,
      newlyParked: [],
      plan(events) {
        const changes = collectChanges([copy], events);
        return attributePlanError(() => planRounds({ schema, tables }, foldChanges(changes)));
      },
    };
    const batches = openBatches(pool, log);
    const sink = copyInto(client, copy, logger);
    for (let attempt = 1; ; attempt++) {
      await catchUp(copy, batches, sink, options);
      try {
        return await swapIn(client, copy, log);
      } catch (error) {
        // a lock timed out, or an event failed; in the latter case, catching up outside the transaction finds it
        if (isLost || attempt === MAX_SWAP_ATTEMPTS) throw error;
        options.signal?.throwIfAborted();
        await sleep(SWAP_PAUSE_MS);
      }
    }
  } finally {
    client.release(true);
  }
}
