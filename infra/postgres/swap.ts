import type pg from "pg";
import type { EventLog } from "#events/ports.ts";
import { changesOf } from "./advance.ts";
import type { Copy } from "./rebuild.ts";
import { servingTables } from "./tables.ts";
import { runAll } from "./write.ts";

export interface Parked {
  stream: string;
  position: number;
  error: string;
}

/**
 * Shorter than the server's deadlock_timeout (1 s): where a reader of several tables and the swap wait for each other,
 * the swap gives way and no reader is ever chosen as the victim.
 */
const LOCK_TIMEOUT = "300ms";

/**
 * Swaps a copy in, in one transaction: writers wait, the copy catches up to where the serving model stands, readers wait
 * for the moment of the exchange and then find the new tables by name. Throws, with nothing changed, when a lock takes too long.
 */
export async function swapIn(
  client: pg.ClientBase,
  copy: Copy,
  log: Pick<EventLog, "follow">,
): Promise<{ position: number }> {
  const { name, version } = copy.projection;
  const before = copy.position;
  await client.query(`analyze ${[...copy.tables.keys()].map((table) => `${copy.schema}.${table}`).join(", ")}`);
  await client.query(`begin; set local synchronous_commit = on; set local lock_timeout = '${LOCK_TIMEOUT}'`);
  try {
    // the order of locks is the live runner's: tables first, then the checkpoint
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

/** The last events before the exchange; one that fails here ends the attempt, and is found outside. */
async function followTo(
  client: pg.ClientBase,
  copy: Copy,
  log: Pick<EventLog, "follow">,
  target: number,
): Promise<void> {
  while (copy.position < target) {
    const events = await log.follow(copy.position, target - copy.position);
    await runAll(client, copy.plan(changesOf([copy], events)));
    copy.position = events.at(-1)!.position;
  }
}

async function recordParked(client: pg.ClientBase, copy: Copy): Promise<void> {
  await client.query("delete from log.parked where projection = $1", [copy.projection.name]);
  for (const { stream, position, error } of copy.newlyParked)
    await client.query("insert into log.parked (projection, stream, position, error) values ($1, $2, $3, $4)", [
      copy.projection.name,
      stream,
      position,
      error,
    ]);
}
