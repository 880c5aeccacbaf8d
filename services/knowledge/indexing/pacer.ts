import { setTimeout as sleep } from "node:timers/promises";
import type { Hints } from "#events/ports.ts";

const MAX_WAIT_MS = 250;
/** Events that are committed within this time are followed together. */
const GATHER_MS = 5;
/** Minimum time between scans. Most commits contain no documents, and a busy chat must not cause a scan after each of its turns. */
const MIN_INTERVAL_MS = 40;

/** Longest rest after a batch: documents wait for it, and with larger batches the search server has less to do. */
const MAX_REST_MS = 250;

/** Waits for a commit, at most 250 ms. After a commit it rests as long as the last batch took, so that batches grow while many documents come. */
export function createPacer(hints: Pick<Hints, "onCommitted">, signal: AbortSignal) {
  let wake: (() => void) | undefined;
  let isHinted = false;
  let lastAt = 0;
  const unsubscribe = hints.onCommitted(() => {
    isHinted = true;
    wake?.();
  });
  signal.addEventListener("abort", () => {
    unsubscribe();
    wake?.();
  });

  return async (): Promise<void> => {
    const endedAt = performance.now();
    const nextAt = Math.max(lastAt + MIN_INTERVAL_MS, endedAt + Math.min(endedAt - lastAt, MAX_REST_MS));
    if (!isHinted && !signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, MAX_WAIT_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    wake = undefined;
    if (isHinted) await sleep(Math.max(GATHER_MS, nextAt - performance.now()));
    isHinted = false;
    lastAt = performance.now();
  };
}
