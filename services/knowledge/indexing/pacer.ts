import { setTimeout as sleep } from "node:timers/promises";
import type { Hints } from "#events/ports.ts";

const EVERY_MS = 250;
/** What is committed together is taken together. */
const GATHER_MS = 5;
/** Most commits are no documents: a busy chat must not have the log scanned after each of its turns. */
const APART_MS = 40;

/** Waits until something was committed, or for 250 ms. */
export function createPacer(hints: Pick<Hints, "onCommitted">, signal: AbortSignal) {
  let wake: (() => void) | undefined;
  let hinted = false;
  let last = 0;
  const silence = hints.onCommitted(() => {
    hinted = true;
    wake?.();
  });
  signal.addEventListener("abort", () => {
    silence();
    wake?.();
  });

  return async (): Promise<void> => {
    if (!hinted && !signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, EVERY_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    wake = undefined;
    if (hinted) await sleep(Math.max(GATHER_MS, last + APART_MS - performance.now()));
    hinted = false;
    last = performance.now();
  };
}
