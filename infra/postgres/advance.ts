import { setTimeout as sleep } from "node:timers/promises";
import type { Recorded } from "#events/envelope.ts";
import type { Change, Projection } from "#projections/projection.ts";
import { blamesEvent, Unprojectable } from "./trouble.ts";

const TRIES = 5;
const FIRST_PAUSE_MS = 50;

/** A read model and where it stands. */
export interface Follower {
  projection: Projection;
  position: number;
  /** Streams that it cannot follow: their events are passed over until it is rebuilt. */
  parked: Set<string>;
}

/** Where followers' changes go; both calls move the followers to their position in the same transaction. */
export interface Sink<F extends Follower> {
  write(followers: F[], changes: Change[], to: number): Promise<void>;
  park(follower: F, event: Pick<Recorded, "stream" | "position">, error: Error): Promise<void>;
}

/**
 * Takes followers past these events. When that fails because of an event, halves find it: everything else is written,
 * and the one event that still fails after 5 tries parks its stream for the one projection that cannot take it.
 * Throws what is not an event's fault (connection, space, a missing table); what was written until then stays.
 */
export async function advance<F extends Follower>(followers: F[], events: Recorded[], sink: Sink<F>): Promise<void> {
  const failure = await attempt(followers, events, sink);
  if (!failure) return;
  if (events.length > 1) {
    const middle = events.length >> 1;
    await advance(followers, events.slice(0, middle), sink);
    await advance(followers, events.slice(middle), sink);
  } else if (followers.length > 1) {
    for (const follower of followers) await advance([follower], events, sink);
  } else await insist(followers[0]!, events[0]!, sink, failure);
}

async function insist<F extends Follower>(follower: F, event: Recorded, sink: Sink<F>, first: Error): Promise<void> {
  let failure = first;
  for (let tried = 1; tried < TRIES; tried++) {
    await sleep(FIRST_PAUSE_MS * 2 ** (tried - 1));
    const again = await attempt([follower], [event], sink);
    if (!again) return;
    failure = again;
  }
  await sink.park(follower, event, failure);
}

/** The failure, where it is an event's fault. */
async function attempt<F extends Follower>(
  followers: F[],
  events: Recorded[],
  sink: Sink<F>,
): Promise<Error | undefined> {
  try {
    await sink.write(followers, changesOf(followers, events), events.at(-1)!.position);
    return undefined;
  } catch (error) {
    if (blamesEvent(error)) return error;
    throw error;
  }
}

/** What these events change in these read models. Throws Unprojectable. */
export function changesOf(followers: Follower[], events: Recorded[]): Change[] {
  const changes: Change[] = [];
  for (const event of events)
    for (const { projection, parked } of followers) {
      const handler = projection.on[event.type];
      if (handler && !parked.has(event.stream)) changes.push(...project(handler, event));
    }
  return changes;
}

function project(handler: Projection["on"][string], event: Recorded): Change[] {
  try {
    return handler(event);
  } catch (cause) {
    throw new Unprojectable(cause);
  }
}
