import type { EventLog } from "#events/ports.ts";
import { PUTTING_EVENTS, type PendingChanges } from "./pendingChanges.ts";
import { FOLLOWED_EVENTS } from "./planChanges.ts";

/** Events per scan of the log. */
export const SCAN_BATCH = 500;
/** A round reads on for this long: a document may stand behind a million events of another organization. */
const READ_AHEAD_MS = 250;

/** Reads the events after a position. Returns the last position that was examined, and whether there are more. */
export async function readChanges(
  { scan }: Pick<EventLog, "scan">,
  pending: PendingChanges,
  from: number,
): Promise<{ seen: number; hasMore: boolean }> {
  const until = performance.now() + READ_AHEAD_MS;
  let [seen, hasMore] = [from, true];
  do {
    const page = await scan(seen, FOLLOWED_EVENTS, SCAN_BATCH);
    pending.add(page.events);
    seen = page.seen;
    hasMore = page.events.length === SCAN_BATCH;
  } while (hasMore && performance.now() < until);
  // after the scan, so that an organization whose dropped events are all read has those of the scan, too
  for (const { organization, after } of pending.restorable()) {
    const page = await scan(after, PUTTING_EVENTS, SCAN_BATCH, organization);
    pending.restore(organization, page.events, page.events.length === SCAN_BATCH ? page.seen : undefined);
  }
  return { seen, hasMore };
}
