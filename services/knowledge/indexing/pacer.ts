import { setTimeout as sleep } from "node:timers/promises";
import type { Hints } from "#events/ports.ts";

const MAX_WAIT_MS = 250;
/** Events committed within this time of each other are processed together. */
const GATHER_MS = 5;
/** Minimum time between scans. Most commits contain no documents, and a busy chat must not cause a scan after each of its turns. */
const MIN_INTERVAL_MS = 40;

/** Longest rest after a batch. Resting makes batches larger, which is less work for the search server, but documents wait for it. */
const MAX_REST_MS = 250;

/** Waits for a commit, at most 250 ms. After a commit it rests as long as the last batch took, so that batches grow under load. */
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
