import { setTimeout as sleep } from "node:timers/promises";
import type { Hints } from "#events/ports.ts";

const MAX_WAIT_MS = 250;
/** Events that are committed within this time are followed together. */
const GATHER_MS = 5;
/** Minimum time between scans. Most commits contain no documents, and a busy chat must not cause a scan after each of its turns. */
const MIN_INTERVAL_MS = 40;

/** Waits for a commit, at most 250 ms. */
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
    if (!isHinted && !signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, MAX_WAIT_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    wake = undefined;
    if (isHinted) await sleep(Math.max(GATHER_MS, lastAt + MIN_INTERVAL_MS - performance.now()));
    isHinted = false;
    lastAt = performance.now();
  };
}
