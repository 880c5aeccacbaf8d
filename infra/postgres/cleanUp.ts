import { basename } from "node:path";
import type { Gate } from "#events/ports.ts";
import { HOUR_MS } from "#events/units.ts";
import type { Blobs, DataKeys } from "#events/vault.ts";
import type { Db } from "#projections/projection.ts";
import { runPeriodically } from "./runPeriodically.ts";

/** Minimum age of an orphan. A blob is written before the event that names it, so younger ones may still get theirs. */
const MIN_ORPHAN_AGE_MS = 24 * HOUR_MS;
/** Folders whose keys are looked up in one query. */
const BATCH = 1_000;

/** Removes the last uses of deleted keys and sessions. */
const DELETE_ORPHANED_USES = `
  delete from ops.last_used l
  where not exists (select from read.keys k where k.id::text = l.id)
    and not exists (select from read.sessions s where s.id::text = l.id)`;

/** Outcomes answer repeated commands: clients repeat for up to a day, the bus for up to an hour. */
const STATEMENTS = [
  "delete from log.commands where recorded_at < now() - interval '48 hours'",
  "delete from ops.unanswered where left_at < now() - interval '1 hour'",
  "delete from ops.login_attempts where at < now() - interval '1 day'",
  "delete from ops.workers where beat_at < now() - interval '1 day'",
  DELETE_ORPHANED_USES,
];

export interface CleanUpOptions {
  db: Db;
  blobs: Pick<Blobs, "foldersOlderThan" | "removeAll" | "removePartsOlderThan">;
  dataKeys: DataKeys;
  /** Nothing is removed because of its age while the clock is wrong. */
  clock: Pick<Gate, "isOpen">;
  onError(error: unknown): void;
}

async function* inBatches(folders: AsyncIterable<string>): AsyncIterable<string[]> {
  const batch: string[] = [];
  for await (const folder of folders) if (batch.push(folder) === BATCH) yield batch.splice(0);
  if (batch.length > 0) yield batch;
}

type RemovalOptions = Pick<CleanUpOptions, "dataKeys" | "clock"> & {
  blobs: Pick<Blobs, "foldersOlderThan" | "removeAll">;
};

/**
 * Removes blobs of things without a data key: the thing was erased, or its command never succeeded. Returns their number. Throws when
 * the signal aborts.
 */
export async function removeOrphanedBlobs(
  { blobs, dataKeys, clock }: RemovalOptions,
  min_age_ms: number,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const folders of inBatches(blobs.foldersOlderThan(min_age_ms, signal))) {
    const keys = await dataKeys.find(folders.map((folder) => basename(folder)));
    for (const folder of folders.filter((one) => !keys.has(basename(one)))) {
      signal?.throwIfAborted();
      if (!clock.isOpen()) return removed;
      await blobs.removeAll(folder);
      removed++;
    }
  }
  return removed;
}

/** Removes expired rows and orphaned blobs, now and hourly, until the signal. The end of the process waits for it. */
export function cleanUp(options: CleanUpOptions, signal: AbortSignal): Promise<void> {
  const removeExpired = async () => {
    for (const statement of STATEMENTS) await options.db.query(statement);
    if (!options.clock.isOpen()) return;
    await options.blobs.removePartsOlderThan(HOUR_MS, signal);
    await removeOrphanedBlobs(options, MIN_ORPHAN_AGE_MS, signal);
  };
  const onError = (error: unknown): void => {
    if (!signal.aborted) options.onError(error);
  };
  return runPeriodically(HOUR_MS, removeExpired, onError, signal);
}
