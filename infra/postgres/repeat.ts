import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs `work` now, and again `every_ms` after each run has ended, until the signal. A run that fails is reported, and the
 * next one comes at its usual time.
 */
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
