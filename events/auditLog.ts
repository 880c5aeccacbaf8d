import type { RecordedEvent } from "./envelope.ts";

/** An event with proof of what it stores encrypted. */
export interface AuditedEvent extends RecordedEvent {
  /** SHA-256 (hex) of its sealed personal fields, which stay in the log when their key is destroyed; null without any. */
  sealed_hash: string | null;
}

/** Which events of an organization: all of them without a field. */
export interface EventFilter {
  stream?: string | undefined;
  types?: string[] | undefined;
  /** Who caused them. */
  principal?: string | undefined;
  /** The id of the command that they were committed by. */
  command?: string | undefined;
}

/** Read access to the part of the log that belongs to one organization. */
export interface AuditLog {
  /**
   * At most `limit` events after a position, in order, of those that the filter names. Fewer if the events are
   * large; `more` says whether others follow. `newest_first`: those before the position, backwards.
   */
  slice(
    organization: string,
    query: EventFilter & { after: number; limit: number; newest_first?: boolean },
  ): Promise<{ events: AuditedEvent[]; more: boolean }>;
  /**
   * Counts events over time, in the database: the newest 50,000 of the organization, of a stream or of a principal. Bars without events are left
   * out; `last` is the position of the newest event of a bar.
   */
  histogram(
    organization: string,
    query: EventFilter,
  ): Promise<{ seconds: number; isComplete: boolean; bars: { at: Date; count: number; last: number }[] }>;
  /** Recomputes the hashes of events in (after, upTo], in order, up to the first that is not what was written. */
  checkChain(
    organization: string,
    range: { after: number; upTo: number; limit: number },
  ): Promise<{
    /** Those that are what was written, without their personal fields. */
    events: AuditedEvent[];
    broken: { position: number; stream: string; version: number; type: string; problem: string } | undefined;
  }>;
  /** The hash (hex) of the chain at each of these positions that holds an event of the organization. */
  hashes(organization: string, positions: number[]): Promise<Map<number, string>>;
}
