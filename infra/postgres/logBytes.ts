import { setTimeout as sleep } from "node:timers/promises";
import { MAX_PASSAGE } from "#events/textSize.ts";
import type { Db } from "#projections/projection.ts";
import { runPeriodically } from "./runPeriodically.ts";

/*
 * Counts what the events of each organization take, in the background: an append costs nothing more
 * (docs/adr/0102-an-organization-has-a-share-of-the-log.md). Also what it stores besides files, attachments and scripts.
 */

const EVERY_MS = 5_000;
/** Rarer, because all values and all texts are added up. */
const SUMS_EVERY_MS = 60_000;
/** Positions counted in one transaction. Sizes are read without the values, so that this takes tens of milliseconds. */
const SLICE = 20_000;
/** Pause between two slices while a log is being caught up with, so that the server can do other work. */
const PAUSE_MS = 100;
/** What an event takes besides its texts: the other columns of its row, and its entries in four indexes. */
const EVENT_BYTES = 500;
/** Long outputs of tools are blobs of their turns, but count like the short ones, which are in the event. */
const OUTPUT_BYTES = `case when type = 'ToolFinished'
        then coalesce(substring(data from '"stored_bytes":([0-9]{1,12})')::bigint, 0) else 0 end`;

/**
 * Counts a slice and moves the position in one statement, so that each event counts once, also if processes count at the same
 * time or are killed: the second one waits for the row, and then continues from its new position. The positions are scalar
 * subqueries, so that the plan is a range of the primary key whatever the statistics say.
 */
const COUNT = `
  with moved as (
    update ops.log_bytes_counted c set previous = c.position, position = least(c.position + $1::integer, h.position)
    from log.head h where c.position < h.position
    returning c.previous, c.position
  ), counted as (
    insert into ops.log_bytes as known (organization_id, bytes)
    select organization_id,
      sum(octet_length(meta) + octet_length(data) + coalesce(octet_length(sealed), 0) + ${EVENT_BYTES}
        + ${OUTPUT_BYTES})
    from log.events
    where position > (select m.previous from moved m) and position <= (select m.position from moved m)
    group by organization_id
    on conflict (organization_id) do update set bytes = known.bytes + excluded.bytes
  )
  select m.position < h.position as more from moved m cross join log.head h`;

/** Counts the next events. Returns whether there are more. */
export async function countNextEvents(db: Db, slice: number = SLICE): Promise<boolean> {
  const [row] = await db.query<{ more: boolean }>(COUNT, [slice]);
  return row?.more ?? false;
}

/** Replaces a column of all organizations with new sums. `sums`: a query of `organization_id` and `bytes`. */
const setSums = (column: "value_bytes" | "text_bytes", sums: string): string => `
  with counted as materialized (${sums}
  ), removed as (
    update ops.log_bytes set ${column} = 0
    where ${column} > 0 and organization_id not in (select organization_id from counted)
  )
  insert into ops.log_bytes as known (organization_id, bytes, ${column})
  select organization_id, 0, bytes from counted
  on conflict (organization_id) do update set ${column} = excluded.${column}
    where known.${column} <> excluded.${column}`;

/** The values of runs are added up again, because they disappear with their runs. */
const COUNT_VALUES = setSums(
  "value_bytes",
  "select organization_id, sum(bytes) as bytes from read.run_values group by organization_id",
);
/** Of texts, what the current ones have beyond their files, and the replaced ones that are kept. */
const COUNT_TEXTS = setSums(
  "text_bytes",
  `select d.organization_id,
      sum(greatest(0, r.chunk_count * ${MAX_PASSAGE}::bigint
        - case when r.generation = d.live_generation then d.size_bytes else 0 end)) as bytes
    from read.readings r join read.documents d on d.id = r.document_id group by d.organization_id`,
);

/** Counts what the values of runs take as blobs. */
export const countRunValues = (db: Db): Promise<unknown> => db.query(COUNT_VALUES);
/** Counts what the texts of documents take: a compressed file of 60 KB may have 50 MB of text. */
export const countTexts = (db: Db): Promise<unknown> => db.query(COUNT_TEXTS);

interface CountOptions {
  db: Db;
  onError(error: unknown): void;
}

/** Counts new events, now and every few seconds, and the values of runs and the texts of documents every minute, until the signal. */
export async function countLogBytes({ db, onError }: CountOptions, signal: AbortSignal): Promise<void> {
  const catchUp = async (): Promise<void> => {
    while (!signal.aborted && (await countNextEvents(db))) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  };
  await Promise.all([
    runPeriodically(EVERY_MS, catchUp, onError, signal),
    runPeriodically(SUMS_EVERY_MS, () => countRunValues(db), onError, signal),
    runPeriodically(SUMS_EVERY_MS, () => countTexts(db), onError, signal),
  ]);
}
