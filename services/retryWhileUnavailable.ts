import { setTimeout as sleep } from "node:timers/promises";
import { StorageUnavailable, Unavailable } from "#events/ports.ts";

const RETRY_MS = 1_000;
/** How long running work waits for a server or the disk before it fails. */
const PATIENCE_MS = 60_000;

async function retryWhile<T>(kind: typeof Unavailable, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof kind) || performance.now() > until) throw error;
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** Repeats work while a server or the disk is unavailable. Throws Unavailable after a minute, and the signal's reason once it aborts. */
export const retryWhileUnavailable = <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
  retryWhile(Unavailable, work, signal);

/** Repeats a write while the disk is full or not writable. Throws StorageUnavailable after a minute. */
export const retryWhileDiskFull = <T>(write: () => Promise<T>): Promise<T> => retryWhile(StorageUnavailable, write);
