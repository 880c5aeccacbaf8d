import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog } from "#events/ports.ts";
import type { Change, Projection } from "#projections/projection.ts";
import { advance, type Follower, type Sink } from "./advance.ts";
import { openBatches, type Batches } from "./batches.ts";
import { foldChanges } from "./changes.ts";
import { swapIn, type Parked } from "./swap.ts";
import { createTables, readTables, type TableShape } from "./tables.ts";
import { planned } from "./trouble.ts";
import { planRounds, writePlan, type Statement } from "./write.ts";

// as in the live follower: more cost a fifth more in garbage collection
const BATCH = 1_000;
const SWAP_TRIES = 100;
const SWAP_PAUSE_MS = 100;
const LOCK_PAUSE_MS = 200;
// the swap itself commits synchronously, and with it everything before
const SESSION = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set synchronous_commit = off";

export interface RebuildOptions {
  pool: pg.Pool;
  log: Pick<EventLog, "follow">;
  projection: Projection;
  logger: Logger;
  /** Told after each batch: where the copy stands, and the newest position when it began. */
  onProgress?: (progress: { position: number; head: number }) => void;
  signal?: AbortSignal;
}

/** A read model that grows beside the serving one. */
export interface Copy extends Follower {
  schema: string;
  tables: Map<string, TableShape>;
  /** Streams parked while it was built, to be recorded at the swap. */
  newlyParked: Parked[];
  plan(changes: Change[]): Statement[];
}

const planFor =
  (schema: string, tables: Map<string, TableShape>) =>
  (changes: Change[]): Statement[] =>
    planned(() => planRounds({ schema, tables }, foldChanges(changes)));

function copyInto(client: pg.ClientBase, copy: Copy, logger: Logger): Sink<Copy> {
  return {
    async write(_, changes, to) {
      await writePlan(client, copy.plan(changes));
      copy.position = to;
    },
    async park(_, { stream, position }, error) {
      copy.parked.add(stream);
      copy.newlyParked.push({ stream, position, error: `${error.name}: ${error.message}` });
      copy.position = position;
      logger.error(
        { err: error, projection: copy.projection.name, stream, position },
        "stream parked: the projection cannot follow it",
      );
    },
  };
}

/** Follows the log until it is within one batch of the newest event. */
async function catchUp(copy: Copy, batches: Batches, sink: Sink<Copy>, options: RebuildOptions): Promise<void> {
  const { rows } = await options.pool.query<{ position: number }>("select position from log.head");
  const head = rows[0]!.position;
  for (let more = true; more; ) {
    options.signal?.throwIfAborted();
    const batch = await batches.read(copy.position, BATCH);
    more = batch.more;
    if (more && !batch.unreadable) batches.prefetch(batch.events.at(-1)!.position, BATCH);
    if (batch.events.length > 0) await advance([copy], batch.events, sink);
    if (batch.unreadable) await passUnreadable(copy, batch.unreadable, sink);
    options.onProgress?.({ position: copy.position, head: Math.max(head, copy.position) });
  }
}

async function passUnreadable(
  copy: Copy,
  { event, error }: NonNullable<Awaited<ReturnType<Batches["read"]>>["unreadable"]>,
  sink: Sink<Copy>,
) {
  if (event.type in copy.projection.on && !copy.parked.has(event.stream)) await sink.park(copy, event, error);
  else copy.position = event.position;
}

/** One rebuild of a projection at a time, over all processes. */
async function lockOut(client: pg.ClientBase, name: string, signal: AbortSignal | undefined): Promise<void> {
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
 * Builds a read model from position 0 in a schema of its own while the old one serves and goes on, and swaps it in, in one
 * transaction that also clears what was parked. A second call for the same projection waits for the first.
 * Resolves with the position at which it was swapped in.
 */
export async function rebuild(options: RebuildOptions): Promise<{ position: number }> {
  const { pool, log, projection, logger } = options;
  const client = await pool.connect();
  let lost = false;
  client.on("error", () => (lost = true));
  try {
    await lockOut(client, projection.name, options.signal);
    await client.query(SESSION);
    const schema = `rebuild_${projection.name}`;
    await createTables(client, projection, schema);
    const tables = await readTables(client, schema);
    const copy: Copy = {
      projection,
      position: 0,
      parked: new Set(),
      schema,
      tables,
      newlyParked: [],
      plan: planFor(schema, tables),
    };
    const batches = openBatches(pool, log);
    const sink = copyInto(client, copy, logger);
    for (let tried = 1; ; tried++) {
      await catchUp(copy, batches, sink, options);
      try {
        return await swapIn(client, copy, log);
      } catch (error) {
        // a lock was not to be had at once, or an event failed: then catching up outside finds it
        if (lost || tried === SWAP_TRIES) throw error;
        options.signal?.throwIfAborted();
        await sleep(SWAP_PAUSE_MS);
      }
    }
  } finally {
    client.release(true);
  }
}
