import { setTimeout as sleep } from "node:timers/promises";

/** How long workers have to end turns that were asked to stop. They count the tokens of a turn; nobody else can. */
const STOP_GRACE_MS = 800;
const POLL_MS = 50;

/** Polls until turns that were asked to stop have ended, or the grace is over. Rejects when `haveEnded` does. */
export async function waitForStop(haveEnded: () => Promise<boolean>): Promise<void> {
  for (const until = performance.now() + STOP_GRACE_MS; performance.now() < until && !(await haveEnded()); )
    await sleep(POLL_MS);
}
