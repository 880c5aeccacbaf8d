/** What a process that starts turns tells the others, so that limits of a minute and of a moment hold for all of them. */
export type TurnNews =
  /** `streamed`: processes before limits of streams leave it out. `reserved`: picodollars that budgets hold back for it. */
  | { kind: "began"; turn_id: string; subjects: string[]; tokens: number; streamed?: boolean; reserved?: string }
  /** `cost`: picodollars. `position`: of the event that ended it. Absent: not known. */
  | { kind: "ended"; turn_id: string; tokens: number; cost?: string; position?: number }
  /**
   * Its next request may cost `reserved`, and its rounds have cost `spent`, in picodollars. Processes before holds that grow ignore it.
   * `attempt`: of the turn, that asks; absent: the first one.
   */
  | { kind: "grew"; turn_id: string; subjects: string[]; reserved: string; spent: string; attempt?: number }
  /** This attempt has ended because the turn waits for a person. `spent`: absent where no budget of money concerns it. */
  | { kind: "parked"; turn_id: string; subjects: string[]; attempt: number; spent?: string }
  /** It goes on after it waited for a person, with this attempt. */
  | { kind: "resumed"; turn_id: string; subjects: string[]; streamed: boolean; attempt: number }
  /** It was refused before it began. */
  | { kind: "withdrawn"; turn_id: string }
  /** A process begins to count. */
  | { kind: "hello" }
  /** Every process that hears it answers. The asker then knows all that the others said before their answers. */
  | { kind: "ask"; n: number }
  | { kind: "answer"; to: string; n: number };

/** News of an organization's turns. Any of them may be lost: they make a count exact within a second that the read models give later. */
export interface TurnNewsExchange {
  /** Reaches other processes, in milliseconds. */
  publish(organization: string, news: TurnNews & { process: string }): void;
  subscribe(organization: string, listener: (news: TurnNews & { process: string }) => void): () => void;
}
