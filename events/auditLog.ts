import type { RecordedEvent } from "./envelope.ts";

/** An event with proof of what it stores encrypted. */
export interface AuditedEvent extends RecordedEvent {
  /** SHA-256 (hex) of its sealed personal fields, which stay in the log when their key is destroyed; null without any. */
  sealed_hash: string | null;
}

/** Selects events of one organization. An absent field selects all of them. */
export interface EventFilter {
  stream?: string | undefined;
  types?: string[] | undefined;
  /** The principal that caused the events. */
  principal?: string | undefined;
  /** The id of the command that appended the events. */
  command?: string | undefined;
}

/** Read access to the part of the log that belongs to one organization. */
export interface AuditLog {
  /**
   * Returns at most `limit` matching events after a position, in log order; with `newest_first`, those before the position, newest
   * first. Large events make a slice shorter than `limit`; `more` says whether further events match. `bytes`: what the events may
   * have stored together, unless the first one alone has more; by default 8 MiB.
   */
  slice(
    organization: string,
    query: EventFilter & { after: number; limit: number; newest_first?: boolean; bytes?: number },
  ): Promise<{ events: AuditedEvent[]; more: boolean }>;
  /**
   * Counts events per time interval. Covers the newest 50,000 matching events. Empty intervals are left out; `last` is the position
   * of the newest event in its interval.
   */
  histogram(
    organization: string,
    query: EventFilter,
  ): Promise<{ seconds: number; isComplete: boolean; bars: { at: Date; count: number; last: number }[] }>;
  /** Recomputes the hashes of the events in (after, upTo], in order, and stops at the first event that was altered. */
  checkChain(
    organization: string,
    range: { after: number; upTo: number; limit: number },
  ): Promise<{
    /** The events whose hashes are right, without their personal fields. */
    events: AuditedEvent[];
    broken: { position: number; stream: string; version: number; type: string; problem: string } | undefined;
  }>;
  /** Returns the chain's hash (hex) at each given position that holds an event of the organization. */
  hashes(organization: string, positions: number[]): Promise<Map<number, string>>;
}
