import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Limiter } from "#services/sharing/fairSemaphore.ts";
import { createSharedRuns } from "./sharedRuns.ts";

/* Makes folders, and the names in them, durable. */

const shareSync = createSharedRuns();

const runAtOnce: Limiter = (work) => work();

/**
 * Syncs a folder to disk. Calls share a sync that has not started, because many files are created at once in an organization's folder.
 * `limit`: runs the sync when there is room, if this call is the first one.
 */
export const syncFolder = (path: string, limit: Limiter = runAtOnce): Promise<void> =>
  shareSync(path, (begin) => limit(() => runSync(path, begin)));

async function runSync(path: string, begin: () => void): Promise<void> {
  const folder = await open(path, "r");
  try {
    begin();
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Node's recursive `mkdir` reports ENOENT on a read-only disk. This throws the disk's own error. */
async function throwDiskError(path: string): Promise<void> {
  if (dirname(path) !== path) await throwDiskError(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (!isError(error, "EEXIST")) throw error;
  });
}

/** Creates a folder durably, syncing the parent of every new level. `mode`: of the new levels. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, ...(mode !== undefined && { mode }) }).catch(
    async (error: unknown) => {
      if (isError(error, "ENOENT")) await throwDiskError(path);
      throw error;
    },
  );
  if (first === undefined) return;
  for (let level = path; level.length >= first.length; level = dirname(level)) await syncFolder(dirname(level));
}

/** Whether an error has one of these codes. */
export const isError = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? "");
