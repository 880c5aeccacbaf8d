import type pg from "pg";
import type { Logger } from "pino";
import type { EventLog, Hints } from "#events/ports.ts";
import type { Change, Projection } from "#projections/projection.ts";
import { failpoint } from "../failpoint.ts";
import { advance, type Follower, type Sink } from "./advance.ts";
import { openBatches } from "./batches.ts";
import { foldChanges } from "./changes.ts";
import { readTables, servingTables, type TableShape } from "./tables.ts";
import { isAnswer, planned } from "./trouble.ts";
import { guarded, planRounds, writePlan, type Guard, type Statement } from "./write.ts";

/** Measured on two cores: 500 to 1,000 events a transaction are the fastest; 5,000 cost a fifth more in garbage. */
const BATCH = 1_000;
/** A projection that the database refuses (its table is missing, the disk is full) is tried again this often. */
const RETRY_MS = 1_000;

interface Following extends Follower {
  build: number;
  /** Epoch milliseconds before which it is left alone. */
  retry_at: number;
}

/** Somebody else has moved a checkpoint, or built a read model anew. */
class CheckpointMoved extends Error {}

export interface TermOptions {
  /** The connection that holds the lock: rows are written on it, so that who lost the lock can write nothing. */
  client: pg.ClientBase;
  pool: pg.Pool;
  log: Pick<EventLog, "follow">;
  hints: Pick<Hints, "projected">;
  projections: Projection[];
  logger: Logger;
}

/**
 * The guard under which rows are written: those checkpoints still stand where this runner left them.
 * Rows and checkpoints are committed together, so a commit that a server crash undoes is simply followed again; not
 * waiting for the disk took the time from commit to projected from 2.7 to 1.2 ms (p50). `durable` ones do wait.
 */
function checkpointGuard(followers: Following[], to: number, durable: boolean): Guard {
  const commit = durable ? "set_config('synchronous_commit', 'on', true) = 'on' and " : "";
  return {
    ctes: [
      `held as materialized (
        select from log.checkpoints c join unnest($1::text[], $2::integer[], $3::integer[]) o(name, version, build)
          on c.name = o.name and c.version = o.version and c.build = o.build
        where c.position = $4::bigint for update of c)`,
      `mine as materialized (select ${commit}count(*) = cardinality($1::text[]) as ok from held)`,
      "moved as (update log.checkpoints set position = $5::bigint where name = any ($1::text[]) and (select ok from mine))",
    ],
    values: [
      followers.map((f) => f.projection.name),
      followers.map((f) => f.projection.version),
      followers.map((f) => f.build),
      followers[0]!.position,
      to,
    ],
  };
}

/** One runner's time as the follower of the log, from when it has the lock until its connection is lost. */
export function openTerm({ client, pool, log, hints, projections, logger }: TermOptions) {
  const batches = openBatches(pool, log);
  let following: Following[] = [];
  let tables = new Map<string, TableShape>();
  const durable = new Set<string>();

  /** Reads where the read models of this version stand; answers with those that are missing or of another version. */
  async function load(): Promise<Projection[]> {
    const checkpoints = await client.query<{ name: string; version: number; position: number; build: number }>(
      "select name, version, position, build from log.checkpoints",
    );
    const parked = await client.query<{ projection: string; stream: string }>(
      "select projection, stream from log.parked",
    );
    tables = await readTables(client, "read");
    for (const { name } of projections.filter((one) => one.durable))
      for (const table of await servingTables(client, name)) durable.add(table);
    const stale: Projection[] = [];
    following = projections.flatMap((projection) => {
      const at = checkpoints.rows.find((row) => row.name === projection.name && row.version === projection.version);
      if (!at) stale.push(projection);
      const streams = parked.rows.filter((row) => row.projection === projection.name).map((row) => row.stream);
      return at ? [{ projection, position: at.position, build: at.build, parked: new Set(streams), retry_at: 0 }] : [];
    });
    return stale;
  }

  function passed(followers: Following[], to: number): void {
    for (const follower of followers) {
      follower.position = to;
      hints.projected(follower.projection.name, to);
    }
  }

  const plan = (followers: Following[], changes: Change[], to: number): Statement[] =>
    planned(() =>
      planRounds(
        { schema: "read", tables },
        foldChanges(changes),
        checkpointGuard(
          followers,
          to,
          changes.some((change) => durable.has(change.table)),
        ),
      ),
    );

  const sink: Sink<Following> = {
    async write(followers, changes, to) {
      if (!(await writePlan(client, plan(followers, changes, to)))) throw new CheckpointMoved();
      failpoint("after-projected");
      passed(followers, to);
    },
    async park(follower, { stream, position }, error) {
      const guard = checkpointGuard([follower], position, true);
      const park: Statement = {
        ctes: [
          `parked as (insert into log.parked (projection, stream, position, error) select $1, $2, $3::bigint, $4 where /*guard*/ true
           on conflict (projection, stream) do nothing)`,
        ],
        values: [follower.projection.name, stream, position, `${error.name}: ${error.message}`],
        guarded: false,
      };
      if (!(await writePlan(client, [guarded(park, guard)]))) throw new CheckpointMoved();
      follower.parked.add(stream);
      logger.error(
        { err: error, projection: follower.projection.name, stream, position },
        "stream parked: the projection cannot follow it",
      );
      passed([follower], position);
    },
  };

  /** Takes a group that stands at one position a batch further; answers whether there may be more. */
  async function follow(group: Following[], limit: number, alone: boolean): Promise<boolean> {
    const after = group[0]!.position;
    const { events, more, unreadable } = await batches.read(after, limit);
    const last = events.at(-1)?.position ?? after;
    if (alone && more && !unreadable) batches.prefetch(last, limit);
    if (events.length > 0) await advance(group, events, sink);
    if (unreadable) {
      for (const follower of group) {
        const concerned =
          unreadable.event.type in follower.projection.on && !follower.parked.has(unreadable.event.stream);
        if (concerned) await sink.park(follower, unreadable.event, unreadable.error);
        else await sink.write([follower], [], unreadable.event.position);
      }
    }
    return more;
  }

  /** One that the database refuses must not hold up the others: each goes alone, and it waits. */
  async function followApart(group: Following[], limit: number, error: unknown): Promise<boolean> {
    if (error instanceof CheckpointMoved) {
      const names = (await load()).map((one) => one.name);
      if (names.length > 0)
        logger.warn({ projections: names }, "another version was built: this runner leaves it alone");
      return true;
    }
    if (!isAnswer(error)) throw error;
    if (group.length === 1) {
      group[0]!.retry_at = Date.now() + RETRY_MS;
      tables = await readTables(client, "read");
      logger.error(
        { err: error, projection: group[0]!.projection.name },
        "projection refused by the database, will be tried again",
      );
      return false;
    }
    let more = false;
    for (const follower of group)
      more = (await follow([follower], limit, false).catch((again) => followApart([follower], limit, again))) || more;
    return more;
  }

  return {
    load,
    /** Where the foremost stands. */
    position: () => Math.max(0, ...following.map((one) => one.position)),
    /** Takes every read model at most a batch further, those at one position together; true when there may be more. */
    async step(): Promise<boolean> {
      const able = following.filter((one) => one.retry_at <= Date.now());
      const positions = [...new Set(able.map((one) => one.position))].sort((a, b) => a - b);
      let more = false;
      for (const [n, position] of positions.entries()) {
        const group = able.filter((one) => one.position === position);
        const limit = Math.min(BATCH, (positions[n + 1] ?? Infinity) - position);
        if (group.length > 0)
          more =
            (await follow(group, limit, positions.length === 1).catch((error) => followApart(group, limit, error))) ||
            more;
      }
      return more;
    },
  };
}
