import { setTimeout as sleep } from "node:timers/promises";
import type { Hints } from "#events/ports.ts";

const MAX_WAIT_MS = 250;
/** Events committed within this time of each other are processed together. */
const GATHER_MS = 5;
/** Minimum time between scans. Most commits contain no documents, and a busy chat must not cause a scan after each of its turns. */
const MIN_INTERVAL_MS = 40;

/** Longest rest after a batch. Resting makes batches larger, which is less work for the search server, but documents wait for it. */
const MAX_REST_MS = 250;

/** A batch of this many documents means that many more are on their way. */
const CROWD = 20;
/**
 * After such a batch, documents are gathered until nothing was committed for a moment, and at most this long. A change costs the search
 * server about the same for twenty documents and for two hundred.
 */
const [QUIET_MS, MAX_GATHER_MS] = [50, 1_000];

interface Gathering {
  /** Number of documents in the last batch. */
  documents: number;
  /** When the last batch ended and when the last commit was, on the clock of `now` (milliseconds). */
  endedAt: number;
  hintedAt: number;
  now: number;
}

/** Milliseconds until the batch begins if nothing more is committed; 0 or less: now. */
export const gatherTimeLeft = ({ documents, endedAt, hintedAt, now }: Gathering): number =>
  documents < CROWD ? 0 : Math.min(hintedAt + QUIET_MS, endedAt + MAX_GATHER_MS) - now;

/**
 * Waits for a commit, at most 250 ms. After a commit it rests as long as the last batch took, so that batches grow under load, and longer
 * if that batch had many documents.
 */
export function createPacer(hints: Pick<Hints, "onCommitted">, signal: AbortSignal) {
  let wake: (() => void) | undefined;
  let isHinted = false;
  let [hintedAt, lastAt] = [0, 0];
  const unsubscribe = hints.onCommitted(() => {
    isHinted = true;
    hintedAt = performance.now();
    wake?.();
  });
  signal.addEventListener("abort", () => {
    unsubscribe();
    wake?.();
  });

  const gather = async (documents: number, endedAt: number): Promise<void> => {
    while (!signal.aborted) {
      const wait = gatherTimeLeft({ documents, endedAt, hintedAt, now: performance.now() });
      if (wait <= 0) return;
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  };

  /** `documents`: their number in the last batch. */
  return async (documents: number): Promise<void> => {
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
    await gather(documents, endedAt);
    isHinted = false;
    lastAt = performance.now();
  };
}
