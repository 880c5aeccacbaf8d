import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/* Folders that are on the disk, with the names in them, before work goes on. */

interface FolderSync {
  /** What was done before it began is on disk when it is done. */
  hasBegun: boolean;
  done: Promise<void>;
}
/** The newest sync of each folder that is under way. */
const folderSyncs = new Map<string, FolderSync>();

/** Syncs a folder to disk. Calls share a sync that has not begun: many things are created at once in the folder of an organization. */
export function syncFolder(path: string): Promise<void> {
  const newest = folderSyncs.get(path);
  if (newest && !newest.hasBegun) return newest.done;
  const own: FolderSync = { hasBegun: false, done: newest ? newest.done.catch(() => {}) : Promise.resolve() };
  folderSyncs.set(path, own);
  own.done = own.done
    .then(() => runSync(path, own))
    .finally(() => {
      if (folderSyncs.get(path) === own) folderSyncs.delete(path);
    });
  return own.done;
}

async function runSync(path: string, sync: FolderSync): Promise<void> {
  const folder = await open(path, "r");
  try {
    sync.hasBegun = true;
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** On a read-only disk, Node's recursive `mkdir` says ENOENT. Throws what the disk says. */
async function throwDiskError(path: string): Promise<void> {
  if (dirname(path) !== path) await throwDiskError(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (!isError(error, "EEXIST")) throw error;
  });
}

/** Creates a folder durably: the parent of every new level is synced to disk. `mode`: of the new levels. */
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
