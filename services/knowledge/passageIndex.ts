/* The port to the passage index; infra/meilisearch implements it. */

/** A passage as search knows it. It is known by (document, generation, seq). */
export interface IndexedPassage {
  organization_id: string;
  collection_id: string;
  document_id: string;
  generation: number;
  seq: number;
  tags: string[];
  /** Name of the document. */
  name: string;
  page: number | null;
  section: string | null;
  lead: string;
  text: string;
}

/** Passages to be taken out: of a document, all generations, those below one, or one alone. */
export interface Superseded {
  document_id: string;
  below_generation: number | null;
  only_generation?: number;
}

/** How many passages of a generation there are. */
export interface Held {
  document_id: string;
  generation: number;
  passages: number;
}

/** What became of a change of the index. */
export type Settled = { ok: true; finished_at: string } | { ok: false; error: string };

/**
 * One index at a time serves; each has an id of its own, so that another can be filled beside it. Changes are queued in
 * order; `settled` says what became of them. Every method throws when the search server cannot be asked.
 */
export interface PassageIndex {
  /** Makes an empty index; resolves when it is there. */
  create(index: string): Promise<void>;
  /** Whether it is there, as it was made: not one that was emptied since. */
  exists(index: string): Promise<boolean>;
  /** How many passages are in it. */
  count(index: string): Promise<number>;
  /** Which they are; undefined where they changed while they were read. */
  generations(index: string): Promise<Held[] | undefined>;
  /** Has the server read what it needs for the first search in any language, which is then no slower than others. */
  warm(index: string): Promise<void>;
  /** Ids of the indexes of this deployment. */
  list(): Promise<string[]>;
  drop(index: string): Promise<void>;
  /** Queues passages, many at a time in several changes; what was there under the same (document, generation, seq) is replaced. */
  put(index: string, passages: IndexedPassage[]): Promise<Change[]>;
  remove(index: string, superseded: Superseded[]): Promise<Change>;
  /** Waits until each is done. A change that the server does not know any more counts as failed. */
  settled(changes: Change[]): Promise<Map<Change, Settled>>;
}

/** A queued change, by the number that the search server gave it. */
export type Change = number;

/** The index that answers, and the version of the code that filled it. */
export interface Serving {
  index: string;
  version: number;
}

export interface Place {
  /** Null before the first document. */
  serving: Serving | null;
  /** How far the index has followed the log. */
  position: number;
  /** How far the read model of the documents has, which says what search may show. */
  shown: number;
  /** Where the log ends. */
  head: number;
  /** A new index is to be filled. */
  asked: boolean;
}

/** Where the passage index of the deployment stands: which one serves, and up to where it has followed the log. */
export interface IndexPlace {
  look(): Promise<Place>;
  /** How many passages search may show, but those of some documents; 0 while there is no read model that says so. */
  shown(except: string[]): Promise<number>;
  /** Which they are; undefined while there is no read model that says so. */
  shownGenerations(): Promise<Held[] | undefined>;
  /** The first index serves from now on; false where another does. */
  begin(first: Serving): Promise<boolean>;
  /** Moves forward, never back. */
  advance(position: number): Promise<void>;
  /** How far a new index has been filled. */
  filled(position: number, target: number): Promise<void>;
  /** The new index is not to serve, and nobody asks for one any more. */
  decline(): Promise<void>;
  /**
   * The new index, which is filled up to a position, serves from now on, and nobody asks for one any more. False where
   * `from` did not serve, or somebody has followed further with it.
   */
  flip(from: string, to: Serving, position: number): Promise<boolean>;
}
