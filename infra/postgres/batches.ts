import type pg from "pg";
import type { Recorded } from "#events/envelope.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { isAnswer, Unprojectable } from "./trouble.ts";

/** About what one batch may hold in memory; an event can be 256 KiB, so a thousand of those would be too many at once. */
const BATCH_BYTES = 16 * 1024 * 1024;
const SAMPLE = 8;

/** An event that cannot be read: no way up from its shape, or its seal does not open. */
export interface Unreadable {
  event: Pick<Recorded, "stream" | "position" | "type">;
  error: Error;
}
export interface Batch {
  events: Recorded[];
  /** There may be more after these. */
  more: boolean;
  /** The event after those, where it is the reason that there are no more. */
  unreadable?: Unreadable;
}

/** The size of an event as JSON, by a few of them. */
function averageBytes(events: Recorded[]): number {
  const step = Math.ceil(events.length / SAMPLE);
  const sample = events.filter((_, n) => n % step === 0);
  return JSON.stringify(sample).length / sample.length;
}

/** Reads the log in batches. Where one cannot be read, what comes before the event at fault is. */
export function openBatches(pool: Pick<pg.Pool, "query">, log: Pick<EventLog, "follow">) {
  let affordable = Infinity;

  async function read(after: number, limit: number): Promise<Batch> {
    try {
      const events = await log.follow(after, limit);
      if (events.length > 0) affordable = Math.max(SAMPLE, Math.floor(BATCH_BYTES / averageBytes(events)));
      return { events, more: events.length === limit };
    } catch (error) {
      if (isAnswer(error) || error instanceof Unavailable) throw error;
      if (limit > 1) return read(after, limit >> 1);
      return { events: [], more: true, unreadable: await named(after + 1, error) };
    }
  }

  /** Throws the error itself when the database does not answer either: then no event is to blame. */
  async function named(position: number, error: unknown): Promise<Unreadable> {
    const { rows } = await pool.query<Unreadable["event"]>(
      "select position, stream, type from log.events where position = $1",
      [position],
    );
    if (!rows[0]) throw error;
    return { event: rows[0], error: new Unprojectable(error) };
  }

  let ahead: { after: number; limit: number; batch: Promise<Batch> } | undefined;
  return {
    /** At most `limit` events after a position, fewer where they are large. */
    read(after: number, limit: number): Promise<Batch> {
      const ready = ahead?.after === after && ahead.limit === limit ? ahead.batch : undefined;
      ahead = undefined;
      return ready ?? read(after, Math.min(limit, affordable));
    },
    /** Starts to read what will be asked for next. */
    prefetch(after: number, limit: number): void {
      const batch = read(after, Math.min(limit, affordable));
      batch.catch(() => {});
      ahead = { after, limit, batch };
    },
  };
}
export type Batches = ReturnType<typeof openBatches>;
