import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait until stopped turns have ended, because only their workers can count their tokens. */
const STOP_GRACE_MS = 800;
const POLL_MS = 50;

/** Polls until turns that were asked to stop have ended, or the grace is over. Rejects when `haveEnded` does. */
export async function waitForStop(haveEnded: () => Promise<boolean>): Promise<void> {
  for (const until = performance.now() + STOP_GRACE_MS; performance.now() < until && !(await haveEnded()); )
    await sleep(POLL_MS);
}
