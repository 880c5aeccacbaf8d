/* Counts for one kind of thing: what a deletion would delete, and what holds would keep. */

export interface ThingCount {
  count: number;
  /** Creation time of the oldest one; null if there is none. */
  oldest: Date | null;
}

/** A thing that several holds cover counts for each of them. */
export interface HeldCount<Kind> {
  hold_id: string;
  subject: string;
  name: string;
  kind: Kind;
  count: number;
}
