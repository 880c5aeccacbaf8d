import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Blobs, DataKeys } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";

const HOUR_MS = 3_600_000;
/** A blob is written before the event that names it; a day later that event must be there. */
const UNNAMED_FOR_MS = 24 * HOUR_MS;
/** Folders whose keys are looked up at once. */
const BATCH = 1_000;

/** Keys and sessions are known by their read models: when one that was deleted was used is nobody's business. */
const FORGET_USES = `
  delete from ops.last_used l
  where not exists (select from read.keys k where k.id::text = l.id)
    and not exists (select from read.sessions s where s.id::text = l.id)`;

/** Outcomes answer repeated commands: clients may repeat for a day, the bus for an hour. */
const STATEMENTS = [
  "delete from log.commands where recorded_at < now() - interval '48 hours'",
  "delete from ops.unanswered where left_at < now() - interval '1 hour'",
  "delete from ops.login_attempts where at < now() - interval '1 day'",
  "delete from ops.workers where beat_at < now() - interval '1 day'",
  FORGET_USES,
];

export interface CleanUpOptions {
  db: Db;
  blobs: Pick<Blobs, "foldersOlderThan" | "removeAll">;
  dataKeys: DataKeys;
  onError(error: unknown): void;
}

async function* inBatches(folders: AsyncIterable<string>): AsyncIterable<string[]> {
  const batch: string[] = [];
  for await (const folder of folders) if (batch.push(folder) === BATCH) yield batch.splice(0);
  if (batch.length > 0) yield batch;
}

/** Removes blobs whose thing has no data key: it was erased, or the command that was to name them never came through. */
export async function removeUnnamedBlobs(
  { blobs, dataKeys }: Pick<CleanUpOptions, "blobs" | "dataKeys">,
  age_ms = UNNAMED_FOR_MS,
): Promise<number> {
  let removed = 0;
  for await (const folders of inBatches(blobs.foldersOlderThan(age_ms))) {
    const living = await dataKeys.find(folders.map((folder) => basename(folder)));
    for (const folder of folders.filter((one) => !living.has(basename(one)))) {
      await blobs.removeAll(folder);
      removed++;
    }
  }
  return removed;
}

/** Once an hour: takes away what nobody can ask for any more. */
export async function cleanUp(options: CleanUpOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const statement of STATEMENTS) await options.db.query(statement);
      await removeUnnamedBlobs(options);
    } catch (error) {
      options.onError(error);
    }
    await sleep(HOUR_MS, undefined, { signal }).catch(() => {});
  }
}
