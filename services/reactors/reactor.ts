import type { Blobs, EventLog, PublicEvent, StreamHead } from "#events/ports.ts";

export interface Reaction {
  event: PublicEvent;
  blobs: Pick<Blobs, "remove" | "removeAll">;
  log: Pick<EventLog, "heads">;
  /** Attends to the open work of a stream, as the sweep does. */
  attend(head: StreamHead): Promise<void>;
}

/** Slow work that an event calls for. It may be asked twice, and ends in the same either way. */
export interface Reactor {
  /** Events that it has nothing to do for; they wake nobody. */
  skips?(event: PublicEvent): boolean;
  react(reaction: Reaction): Promise<void>;
}
