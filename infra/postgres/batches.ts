import { setImmediate } from "node:timers/promises";
import type pg from "pg";
import type { RecordedEvent } from "#events/envelope.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { isServerRefusal, Unprojectable } from "./errors.ts";

/** Approximate maximum size of a batch in memory. An event can have 256 KiB, so a thousand large ones would be too much. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** UTF-16 units of events handed out at once: planning 13 MB of them blocks the event loop for 60 ms. */
const MAX_PART = 1024 * 1024;
const SAMPLE = 8;
const FEW = 16;

/** An event that cannot be read: an upcast is missing, or its sealed fields cannot be opened. */
export interface UnreadableEvent {
  event: Pick<RecordedEvent, "stream" | "position" | "type">;
  error: Error;
}
export interface Batch {
  events: RecordedEvent[];
  /** Whether more may follow. */
  more: boolean;
  /** The unreadable event that ended the batch, if any. */
  unreadable?: UnreadableEvent;
}

/** UTF-16 units of all texts in a value, plus a few for everything else. JSON.stringify would take 50 ms for large texts. */
function weigh(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return FEW;
  return Object.values(value).reduce((sum: number, each) => sum + weigh(each), FEW);
}

/** Approximate size of an event in memory, from a sample. */
function averageBytes(events: RecordedEvent[]): number {
  const step = Math.ceil(events.length / SAMPLE);
  const sample = events.filter((_, n) => n % step === 0);
  return weigh(sample) / sample.length;
}

/** How many events from the first one have MAX_PART units in total; at least one. */
function countPart(events: RecordedEvent[]): number {
  let units = 0;
  const tooMany = events.findIndex((event) => (units += weigh(event)) > MAX_PART);
  return tooMany === -1 ? events.length : Math.max(1, tooMany);
}

/** Reads the log in batches. An unreadable event ends its batch. */
export function openBatches(pool: Pick<pg.Pool, "query">, log: Pick<EventLog, "follow">) {
  let maxEvents = Infinity;

  async function read(after: number, limit: number): Promise<Batch> {
    try {
      const events = await log.follow(after, limit);
      if (events.length > 0) maxEvents = Math.max(SAMPLE, Math.floor(MAX_BATCH_BYTES / averageBytes(events)));
      return { events, more: events.length === limit };
    } catch (error) {
      if (isServerRefusal(error) || error instanceof Unavailable) throw error;
      if (limit > 1) return read(after, limit >> 1);
      return { events: [], more: true, unreadable: await describeUnreadable(after + 1, error) };
    }
  }

  /** Rethrows the error if there is no such event, because then no event is at fault. */
  async function describeUnreadable(position: number, error: unknown): Promise<UnreadableEvent> {
    const { rows } = await pool.query<UnreadableEvent["event"]>(
      "select position, stream, type from log.events where position = $1",
      [position],
    );
    if (!rows[0]) throw error;
    return { event: rows[0], error: new Unprojectable(error) };
  }

  /** Read, but not handed out yet. */
  let rest: { after: number; batch: Batch } | undefined;
  async function readPart(after: number, limit: number): Promise<Batch> {
    const whole = rest?.after === after ? rest.batch : await read(after, Math.min(limit, maxEvents));
    rest = undefined;
    const count = Math.min(countPart(whole.events), limit);
    if (count >= whole.events.length) return whole;
    const events = whole.events.slice(0, count);
    rest = { after: events.at(-1)!.position, batch: { ...whole, events: whole.events.slice(count) } };
    return { events, more: true };
  }

  let prefetched: { after: number; limit: number; batch: Promise<Batch> } | undefined;
  return {
    /** At most `limit` events after a position, fewer if they are large. */
    read(after: number, limit: number): Promise<Batch> {
      const hit = prefetched?.after === after && prefetched.limit === limit ? prefetched.batch : undefined;
      prefetched = undefined;
      return hit ?? readPart(after, limit);
    },
    /** Starts to read the batch that the next `read` will return. Prepares its events in a separate callback of the event loop. */
    prefetch(after: number, limit: number, prepare: (events: RecordedEvent[]) => void): void {
      const batch = readPart(after, limit).then(async (found) => {
        await setImmediate();
        prepare(found.events);
        return found;
      });
      batch.catch(() => {});
      prefetched = { after, limit, batch };
    },
  };
}
export type Batches = ReturnType<typeof openBatches>;
