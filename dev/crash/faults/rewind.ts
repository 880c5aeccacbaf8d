import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/*
 * A crash of PostgreSQL may lose the newest rows of read models, because they are not flushed at commit. It seldom does: any later
 * commit of the log flushes them too. These functions put a read model back, with its checkpoint, to what such a crash leaves.
 */

/** Between two copies: about what PostgreSQL's WAL writer may leave unflushed. */
const COPY_MS = 300;
/** Hints and queries that are under way arrive within this time. */
const UNDER_WAY_MS = 50;

/** A read model with one table of the same name. */
export type RewoundModel = "projects";

const COPY = (model: RewoundModel) => `
  begin isolation level repeatable read;
  drop table if exists crash_rows, crash_checkpoint;
  create temporary table crash_rows as select * from read.${model};
  create temporary table crash_checkpoint as select position from log.checkpoints where name = '${model}';
  commit`;

/** The sessions of the stopped processes end first: one may hold locks. */
const REWIND = (model: RewoundModel) => `
  select pg_terminate_backend(pid, 1000) from pg_stat_activity where application_name like 'projections-%';
  begin;
  delete from read.${model};
  insert into read.${model} select * from crash_rows;
  update log.checkpoints c set position = o.position from crash_checkpoint o where c.name = '${model}';
  commit`;

interface Rewinding {
  model: RewoundModel;
  /** Resolves when the moment has come. */
  moment: Promise<unknown>;
  /** Stops the processes of a role. */
  stop(role: "projections" | "http"): void;
}

/** Waits for the moment, and rewinds the model to a copy from shortly before. Both roles are stopped afterwards. */
export async function rewindReadModel(client: pg.Client, { model, moment, stop }: Rewinding): Promise<void> {
  let isTime = false;
  void moment.then(() => (isTime = true));
  while (!isTime) {
    await client.query(COPY(model));
    await Promise.race([moment, sleep(COPY_MS)]);
  }
  stop("projections");
  await sleep(UNDER_WAY_MS);
  stop("http");
  await sleep(UNDER_WAY_MS);
  await client.query(REWIND(model));
}
