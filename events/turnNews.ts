/** Messages between the processes that start turns, so that limits per minute and on concurrency apply across all of them. */
export type TurnNews =
  /** `streamed`: absent from processes of releases without stream limits. `reserved`: picodollars that budgets reserve for it. */
  | { kind: "began"; turn_id: string; subjects: string[]; tokens: number; streamed?: boolean; reserved?: string }
  /** `cost`: picodollars. `position`: of the event that ended it. Absent: unknown. */
  | { kind: "ended"; turn_id: string; tokens: number; cost?: string; position?: number }
  /**
   * The turn's reservation changed: its next request may cost `reserved`, and its rounds so far cost `spent`, in picodollars.
   * Processes of releases with fixed reservations ignore it. `attempt`: the attempt that makes the request; absent: the first.
   */
  | { kind: "grew"; turn_id: string; subjects: string[]; reserved: string; spent: string; attempt?: number }
  /** This attempt has ended because the turn waits for a person. `spent`: absent if no budget of money applies. */
  | { kind: "parked"; turn_id: string; subjects: string[]; attempt: number; spent?: string }
  /** The turn continues with this attempt after it waited for a person. */
  | { kind: "resumed"; turn_id: string; subjects: string[]; streamed: boolean; attempt: number }
  /** The turn was refused before it began. */
  | { kind: "withdrawn"; turn_id: string }
  /** A process starts counting. */
  | { kind: "hello" }
  /** Every process that receives it answers. Messages of one process arrive in order, so after the answers the asker knows everything sent before. */
  | { kind: "ask"; n: number }
  | { kind: "answer"; to: string; n: number };

/** Turn news of an organization. Messages may be lost: they only make counts current within a second, and the read models correct them later. */
export interface TurnNewsExchange {
  /** Delivered to other processes within milliseconds. */
  publish(organization: string, news: TurnNews & { process: string }): void;
  subscribe(organization: string, listener: (news: TurnNews & { process: string }) => void): () => void;
}
