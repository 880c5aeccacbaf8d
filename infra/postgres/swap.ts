import type pg from "pg";
import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";
import type { Follower } from "./advance.ts";
import type { ParkedStream } from "./parked.ts";
import { servingTables, type TableShape } from "./tables.ts";
import { runAll, type Statement } from "./writePlan.ts";

/** A read model that is being built beside the serving one. */
export interface ReadModelCopy extends Follower {
  schema: string;
  tables: Map<string, TableShape>;
  /** Streams parked during the build; the swap records them. */
  newlyParked: ParkedStream[];
  plan(events: RecordedEvent[]): Statement[];
}

/**
 * Shorter than the server's deadlock_timeout (1 s): if a reader of several tables and the swap wait for each other, the swap times
 * out first, so that the server never cancels the reader.
 */
const LOCK_TIMEOUT = "300ms";

/**
 * Swaps in a copy, in one transaction: writers wait while it catches up with the serving model, readers wait while the tables are
 * exchanged. If a lock takes too long, changes nothing and throws.
 */
export async function swapIn(
  client: pg.ClientBase,
  copy: ReadModelCopy,
  log: Pick<EventLog, "follow">,
): Promise<{ position: number }> {
  const { name, version } = copy.projection;
  const before = copy.position;
  await client.query(`analyze ${[...copy.tables.keys()].map((table) => `${copy.schema}.${table}`).join(", ")}`);
  await client.query(`begin; set local synchronous_commit = on; set local lock_timeout = '${LOCK_TIMEOUT}'`);
  try {
    // the same lock order as in the live follower: tables first, then the checkpoint
    const old = (await servingTables(client, name)).map((table) => `read.${table}`).join(", ");
    if (old) await client.query(`lock table ${old} in share mode`);
    await client.query(
      "insert into log.checkpoints (name, version, position) values ($1, $2, 0) on conflict do nothing",
      [name, version],
    );
    const { rows } = await client.query<{ position: number }>(
      "select position from log.checkpoints where name = $1 for update",
      [name],
    );
    await followTo(client, copy, log, rows[0]!.position);
    if (old) await client.query(`drop table ${old}`);
    for (const table of copy.tables.keys()) await client.query(`alter table ${copy.schema}.${table} set schema read`);
    await client.query("update log.checkpoints set version = $2, position = $3, build = build + 1 where name = $1", [
      name,
      version,
      copy.position,
    ]);
    await recordParked(client, copy);
    await client.query(`drop schema ${copy.schema} cascade; commit`);
    return { position: copy.position };
  } catch (error) {
    await client.query("rollback").catch(() => {});
    copy.position = before;
    throw error;
  }
}

/** Applies the last events. If one fails, the attempt ends, and the next catch-up finds it. */
async function followTo(
  client: pg.ClientBase,
  copy: ReadModelCopy,
  log: Pick<EventLog, "follow">,
  target: number,
): Promise<void> {
  while (copy.position < target) {
    const events = await log.follow(copy.position, target - copy.position);
    await runAll(client, copy.plan(events));
    copy.position = events.at(-1)!.position;
  }
}

async function recordParked(client: pg.ClientBase, copy: ReadModelCopy): Promise<void> {
  await client.query("delete from log.parked where projection = $1", [copy.projection.name]);
  for (const { stream, position, error } of copy.newlyParked)
    await client.query("insert into log.parked (projection, stream, position, error) values ($1, $2, $3, $4)", [
      copy.projection.name,
      stream,
      position,
      error,
    ]);
}
