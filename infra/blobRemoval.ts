import type { Dirent } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFairSemaphore, createLimiter } from "#services/sharing/fairSemaphore.ts";
import { isError, syncFolder } from "./folders.ts";

/**
 * Concurrent removals of the process, shared fairly by organizations, and concurrent syncs of the folders above them. They leave one
 * of libuv's four threads free: an erasure may queue a hundred thousand removals, and the passwords, host names and files of all
 * requests would wait behind them.
 */
const [MAX_REMOVALS, MAX_SYNCS] = [2, 1];
const removals = createFairSemaphore({ total: MAX_REMOVALS, perTenant: MAX_REMOVALS });
const limitSyncs = createLimiter(MAX_SYNCS);

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!isError(error, "ENOTEMPTY", "EEXIST", "ENOENT")) throw error;
  }
}

/** Makes a removal durable: syncs the nearest remaining folder above it. Removals below the same folder share a sync. */
async function syncRemoval(path: string): Promise<void> {
  try {
    await syncFolder(dirname(path), limitSyncs);
  } catch (error) {
    if (!isError(error, "ENOENT")) throw error;
    await syncRemoval(dirname(path));
  }
}

async function listEntries(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isError(error, "ENOENT")) return [];
    throw error;
  }
}

/** Removes what a folder contains, one file after the other: Node's recursive `rm` starts to remove all of them at once. */
async function emptyFolder(path: string): Promise<void> {
  for (const entry of await listEntries(path)) {
    const inside = join(path, entry.name);
    if (!entry.isDirectory()) await rm(inside, { force: true });
    else {
      await emptyFolder(inside);
      await removeIfEmpty(inside);
    }
  }
}

/** Removes a file durably, and its folder if that is empty then. */
export async function removeFile(organization: string, path: string): Promise<void> {
  await removals.run(organization, async () => {
    await rm(path, { force: true });
    await removeIfEmpty(dirname(path));
  });
  await syncRemoval(path);
}

/** Removes a folder durably, with all that it contains. */
export async function removeFolder(organization: string, path: string): Promise<void> {
  await removals.run(organization, async () => {
    await emptyFolder(path);
    // also what was added meanwhile
    await rm(path, { recursive: true, force: true });
  });
  await syncRemoval(path);
}
