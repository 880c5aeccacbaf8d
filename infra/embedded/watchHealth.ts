import { setTimeout as sleep } from "node:timers/promises";

const EVERY_MS = 2_000;
/** Longer than a busy machine needs, because killing a slow server makes everything slower. */
const ANSWER_MS = 4_000;
const MAX_FAILURES = 3;

/**
 * Calls `onHung` with the latest reason after three consecutive failed checks. Some servers do not recover by themselves: after a
 * full disk, NATS 2.9 never answers JetStream requests again, and NATS 2.14 accepts no message for a stream that failed to write.
 */
export async function watchHealth(
  check: (signal: AbortSignal) => Promise<unknown>,
  onHung: (reason: unknown) => Promise<void>,
  stopping: AbortSignal,
): Promise<void> {
  for (let failures = 0; !stopping.aborted; ) {
    await sleep(EVERY_MS, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
    let reason: unknown;
    const isAlive = await check(AbortSignal.timeout(ANSWER_MS)).then(
      () => true,
      (error: unknown) => {
        reason = error;
        return false;
      },
    );
    failures = isAlive ? 0 : failures + 1;
    if (failures < MAX_FAILURES || stopping.aborted) continue;
    failures = 0;
    await onHung(reason);
  }
}
