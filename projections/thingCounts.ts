/* What a deletion would take, and what holds would keep from it, of one kind. */

export interface ThingCount {
  count: number;
  /** When the oldest was created; null if there is none. */
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
