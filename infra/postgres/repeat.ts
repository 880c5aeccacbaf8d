import { setTimeout as sleep } from "node:timers/promises";

/** Runs `work` now and then `every_ms` after the end of each run, until the signal. Failures are reported and change nothing about the schedule. */
export async function repeat(
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
