import { setTimeout as sleep } from "node:timers/promises";
import { StorageUnavailable } from "#events/ports.ts";

const RETRY_MS = 1_000;
/** How long running work waits for a full or broken disk before it fails. */
const PATIENCE_MS = 60_000;

/** Repeats a write while the disk is full or not writable. Throws StorageUnavailable after a minute. */
export async function retryWhileDiskFull<T>(write: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(RETRY_MS))
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || performance.now() > until) throw error;
    }
}
