import type { EventLog, PublicEvent, StreamHead } from "#events/ports.ts";
import type { Blobs } from "#events/vault.ts";

export interface Reaction {
  event: PublicEvent;
  blobs: Pick<Blobs, "remove" | "removeAll">;
  log: Pick<EventLog, "heads">;
  /** Starts, takes over or ends the open work of a stream, as the sweep does. */
  resumeWork(head: StreamHead): Promise<void>;
  /** Starts the alert run of a reached budget. Idempotent. */
  startAlertRun(event: PublicEvent): Promise<void>;
}

/** Slow work after an event. It may run twice for one event and must be idempotent. */
export interface Reactor {
  /** Whether an event needs no work. Skipped events are not queued. */
  skips?(event: PublicEvent): boolean;
  react(reaction: Reaction): Promise<void>;
}
