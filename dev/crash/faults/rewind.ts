import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Operation } from "../journal.ts";

/*
 * A crash of PostgreSQL may lose the newest rows of read models, because they are not flushed at commit. It seldom does: any later
 * commit of the log flushes them too. These functions put a read model back, with its checkpoint, to what such a crash leaves.
 */

/** Between two copies. The last but one is used: the last may have the rows of the acknowledgement. */
const COPY_MS = 300;
/** Whether the copy that is used is from before the operation, so that the model loses what it wrote. */
export const isYoungerThanCopy = ({ start, end, attempts }: Operation): boolean =>
  attempts === 1 && end - start < COPY_MS;
/** Hints and queries that are under way arrive within this time. */
const UNDER_WAY_MS = 50;

/** A read model with one table of the same name. */
export type RewoundModel = "files";

const COPY = (model: RewoundModel, kept: string) => `
  begin isolation level repeatable read;
  drop table if exists ${kept}_rows, ${kept}_checkpoint;
  create temporary table ${kept}_rows as select * from read.${model};
  create temporary table ${kept}_checkpoint as select position from log.checkpoints where name = '${model}';
  commit`;

/** The sessions of the stopped processes end first: one may hold locks. */
const REWIND = (model: RewoundModel, kept: string) => `
  select pg_terminate_backend(pid, 1000) from pg_stat_activity where application_name like 'projections-%';
  begin;
  delete from read.${model};
  insert into read.${model} select * from ${kept}_rows;
  update log.checkpoints c set position = o.position from ${kept}_checkpoint o where c.name = '${model}';
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
  const kept = ["even", "odd"] as const;
  let copies = 0;
  for (; !isTime || copies < kept.length; copies++) {
    await client.query(COPY(model, kept[copies % 2]!));
    await Promise.race([moment, sleep(COPY_MS)]);
  }
  stop("projections");
  await sleep(UNDER_WAY_MS);
  stop("http");
  await sleep(UNDER_WAY_MS);
  await client.query(REWIND(model, kept[copies % 2]!));
}
