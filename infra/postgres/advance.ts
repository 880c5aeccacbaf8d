import { setTimeout as sleep } from "node:timers/promises";
import type { RecordedEvent } from "#events/envelope.ts";
import type { Change, Projection } from "#projections/projection.ts";
import type { UnreadableEvent } from "./batches.ts";
import { isEventFault, Unprojectable } from "./errors.ts";

const MAX_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 50;

/** A read model and the position up to which it has followed the log. */
export interface Follower {
  projection: Projection;
  position: number;
  /** Streams that it cannot follow. Their events are skipped until the read model is rebuilt. */
  parked: Set<string>;
}

/** Stores the changes that events make for followers. Both methods move the followers' positions in the same transaction. */
export interface Sink<F extends Follower> {
  /** Throws Unprojectable if an event is at fault. */
  write(followers: F[], events: RecordedEvent[], to: number): Promise<void>;
  park(follower: F, event: Pick<RecordedEvent, "stream" | "position">, error: Error): Promise<void>;
}

/**
 * Moves followers past these events. If an event is at fault, bisection finds it: everything else is written, and an event that
 * still fails after 5 attempts parks its stream for the projection that cannot follow it. Other errors (connection, disk space, a
 * missing table) are thrown; rows written before stay written.
 */
export async function advanceFollowers<F extends Follower>(
  followers: F[],
  events: RecordedEvent[],
  sink: Sink<F>,
): Promise<void> {
  const failure = await tryWrite(followers, events, sink);
  if (!failure) return;
  if (events.length > 1) {
    const middle = events.length >> 1;
    await advanceFollowers(followers, events.slice(0, middle), sink);
    await advanceFollowers(followers, events.slice(middle), sink);
  } else if (followers.length > 1) {
    for (const follower of followers) await advanceFollowers([follower], events, sink);
  } else await retryOrPark(followers[0]!, events[0]!, sink, failure);
}

/** Moves followers past an unreadable event: it parks the event's stream for those that would have to project it. */
export async function skipUnreadable<F extends Follower>(
  followers: F[],
  { event, error }: UnreadableEvent,
  sink: Sink<F>,
): Promise<void> {
  for (const follower of followers) {
    const isAffected = event.type in follower.projection.on && !follower.parked.has(event.stream);
    if (isAffected) await sink.park(follower, event, error);
    else await sink.write([follower], [], event.position);
  }
}

async function retryOrPark<F extends Follower>(
  follower: F,
  event: RecordedEvent,
  sink: Sink<F>,
  first: Error,
): Promise<void> {
  let failure = first;
  for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts++) {
    await sleep(FIRST_PAUSE_MS * 2 ** (attempts - 1));
    const next = await tryWrite([follower], [event], sink);
    if (!next) return;
    failure = next;
  }
  await sink.park(follower, event, failure);
}

/** Returns the error if an event is at fault, and throws any other. */
async function tryWrite<F extends Follower>(
  followers: F[],
  events: RecordedEvent[],
  sink: Sink<F>,
): Promise<Error | undefined> {
  try {
    await sink.write(followers, events, events.at(-1)!.position);
    return undefined;
  } catch (error) {
    if (isEventFault(error)) return error;
    throw error;
  }
}

/** The changes that these events make in these read models. Throws Unprojectable. */
export function collectChanges(followers: Follower[], events: RecordedEvent[]): Change[] {
  const changes: Change[] = [];
  for (const event of events)
    for (const { projection, parked } of followers) {
      const handler = projection.on[event.type];
      if (handler && !parked.has(event.stream)) changes.push(...project(handler, event));
    }
  return changes;
}

function project(handler: Projection["on"][string], event: RecordedEvent): Change[] {
  try {
    return handler(event);
  } catch (cause) {
    throw new Unprojectable(cause);
  }
}
