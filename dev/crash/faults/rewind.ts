import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Operation } from "../journal.ts";

/*
 * A crash of PostgreSQL may lose the newest rows of read models, because they are not flushed at commit. It rarely does, because
 * any later commit of the log flushes them as well. These functions restore a read model and its checkpoint to the state after such
 * a crash.
 */

/** Milliseconds between two copies. */
const COPY_MS = 300;
/** Maximum copies. The newest one from before the acknowledged operation is used. */
const COPIES = 12;
/** Hints and queries in progress arrive within this time. */
const UNDER_WAY_MS = 50;

/** A read model with one table of the same name. */
export type RewoundModel = "agents";

const COPY = (model: RewoundModel, kept: string) => `
  begin isolation level repeatable read;
  drop table if exists ${kept}_rows, ${kept}_checkpoint;
  create temporary table ${kept}_rows as select * from read.${model};
  create temporary table ${kept}_checkpoint as select position from log.checkpoints where name = '${model}';
  commit`;

/** Ends the sessions of the stopped processes first, because one may hold locks. */
const REWIND = (model: RewoundModel, kept: string) => `
  select pg_terminate_backend(pid, 1000) from pg_stat_activity where application_name like 'projections-%';
  begin;
  delete from read.${model};
  insert into read.${model} select * from ${kept}_rows;
  update log.checkpoints c set position = o.position from ${kept}_checkpoint o where c.name = '${model}';
  commit`;

interface Rewinding {
  model: RewoundModel;
  /** Resolves when a matching operation is acknowledged, or after some time. */
  acknowledged(fits: (operation: Operation) => boolean): Promise<unknown>;
  stop(role: "projections" | "http"): void;
}

/** Waits for an acknowledgement, and rewinds the model to a copy from shortly before its operation. Both roles are stopped afterwards. */
export async function rewindReadModel(client: pg.Client, { model, acknowledged, stop }: Rewinding): Promise<void> {
  /** When each copy was complete. The next copy replaces the oldest. */
  const taken: number[] = [];
  const nameOf = (copy: number) => `kept_${copy % COPIES}`;
  const copyBefore = (start: number) => taken.findLastIndex((at, n) => at < start && n > taken.length - COPIES);
  let [isTime, chosen] = [false, -1];
  const moment = acknowledged(({ start, attempts }) => {
    chosen = attempts === 1 ? copyBefore(start) : -1;
    return chosen >= 0;
  });
  void moment.then(() => (isTime = true));
  while (!isTime) {
    await client.query(COPY(model, nameOf(taken.length)));
    taken.push(performance.now());
    await Promise.race([moment, sleep(COPY_MS)]);
  }
  stop("projections");
  await sleep(UNDER_WAY_MS);
  stop("http");
  await sleep(UNDER_WAY_MS);
  await client.query(REWIND(model, nameOf(chosen >= 0 ? chosen : taken.length - 1)));
}
