import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Operation } from "../journal.ts";

/*
 * A crash of PostgreSQL may lose the newest rows of read models, because they are not flushed at commit. It seldom does: any later
 * commit of the log flushes them too. These functions put a read model back, with its checkpoint, to what such a crash leaves.
 */

/** Between two copies. */
const COPY_MS = 300;
/** Copies that are kept at a time: the newest one from before the acknowledged operation is used. */
const COPIES = 12;
/** Hints and queries that are under way arrive within this time. */
const UNDER_WAY_MS = 50;

/** A read model with one table of the same name. */
export type RewoundModel = "agents";

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
  /** Resolves when an operation that fits is acknowledged, or after a while. */
  acknowledged(fits: (operation: Operation) => boolean): Promise<unknown>;
  /** Stops the processes of a role. */
  stop(role: "projections" | "http"): void;
}

/** Waits for an acknowledgement, and rewinds the model to a copy from shortly before its operation. Both roles are stopped afterwards. */
export async function rewindReadModel(client: pg.Client, { model, acknowledged, stop }: Rewinding): Promise<void> {
  /** When each copy was complete; the one that is being made next replaces the oldest. */
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
