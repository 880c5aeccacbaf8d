import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";
import {
  ThreadDeleted,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStarted,
  TurnStopped,
} from "#events/thread.ts";
import { MAX_VERSION, newestFirst } from "../newestFirst.ts";

/* Reads one turn of a thread: the others may have a hundred megabytes. */

/** Types of the events that begin, end or delete a turn. */
const BOUNDS = [TurnStarted, TurnCompleted, TurnFailed, TurnStopped, TurnRefused, TurnDeleted, ThreadDeleted].map(
  ({ type }): string => type,
);

/** The event that began the newest turn of a thread. A turn in flight is the newest one. */
export async function readNewestStart(
  log: Pick<EventLog, "readNewest">,
  stream: string,
): Promise<RecordedEvent | undefined> {
  const query = { before: MAX_VERSION, types: [TurnStarted.type], limit: 1, bytes: 1 };
  return (await log.readNewest(stream, query))[0];
}

/** The events since the newest turn of a thread began. */
export async function readNewestTurn(
  log: Pick<EventLog, "read" | "readNewest">,
  stream: string,
): Promise<RecordedEvent[]> {
  const started = await readNewestStart(log, stream);
  return started ? log.read(stream, started.version) : [];
}

/**
 * The events that began, ended and deleted a turn, in order. Without a start among them, the turn never began. For several turns
 * these are their events since the newest of them began.
 */
export async function readTurnBounds(
  log: Pick<EventLog, "readNewest">,
  stream: string,
  ...turn_ids: string[]
): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for await (const event of newestFirst(log, { stream }, BOUNDS)) {
    const isOfTurn = turn_ids.includes((event.data as { turn_id?: string }).turn_id ?? "");
    if (isOfTurn || event.type === ThreadDeleted.type) found.unshift(event);
    if (isOfTurn && event.type === TurnStarted.type) break;
  }
  return found;
}
