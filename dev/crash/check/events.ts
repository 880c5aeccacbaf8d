import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";

const BATCH = 2_000;

/** The whole log, opened. */
export async function allEvents(log: Pick<EventLog, "follow">): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (let batch: RecordedEvent[] = []; ; ) {
    batch = await log.follow(events.at(-1)?.position ?? 0, BATCH);
    events.push(...batch);
    if (batch.length < BATCH) return events;
  }
}
