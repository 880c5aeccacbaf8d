import { setTimeout as sleep } from "node:timers/promises";

/** Runs `work` at once, and again `every_ms` after each run has ended, until `signal` aborts. A failure is reported and does not change the schedule. */
export async function runPeriodically(
  every_ms: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(onError);
    await sleep(every_ms, undefined, { signal }).catch(() => {});
  }
}
