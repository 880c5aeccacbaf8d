import type { RecordedEvent } from "./envelope.ts";

/** Read access to the part of the log that belongs to one organization. */
export interface AuditLog {
  /**
   * At most `limit` events after a position, in order, optionally of one stream or of some types. Fewer if the events are
   * large; `more` says whether others follow. `newest_first`: those before the position, backwards.
   */
  slice(
    organization: string,
    query: {
      after: number;
      stream: string | undefined;
      types: string[] | undefined;
      limit: number;
      newest_first?: boolean;
    },
  ): Promise<{ events: RecordedEvent[]; more: boolean }>;
  /**
   * Counts events over time, in the database: the newest 50,000 of the organization or of a stream. Bars without events are left
   * out; `last` is the position of the newest event of a bar.
   */
  histogram(
    organization: string,
    query: { stream: string | undefined; types: string[] | undefined },
  ): Promise<{ seconds: number; isComplete: boolean; bars: { at: Date; count: number; last: number }[] }>;
  /** Recomputes the hashes of events in (after, upTo], in order, up to the first that is not what was written. */
  checkChain(
    organization: string,
    range: { after: number; upTo: number; limit: number },
  ): Promise<{
    checked: number;
    /** The last event that is what was written, with its hash (hex). */
    last: { position: number; hash: string } | undefined;
    broken: { position: number; stream: string; version: number; type: string; problem: string } | undefined;
  }>;
  /** The hash (hex) of the chain at each of these positions that holds an event of the organization. */
  hashes(organization: string, positions: number[]): Promise<Map<number, string>>;
}
