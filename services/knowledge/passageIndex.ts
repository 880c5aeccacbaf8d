import type { Metadata, DocumentReader } from "#events/documentDetails.ts";

/* Ports to the passage index, and to the registry that records which index serves. */

/** A passage as the search index stores it, identified by (document, generation, seq). */
export interface IndexedPassage {
  organization_id: string;
  collection_id: string;
  document_id: string;
  generation: number;
  seq: number;
  tags: string[];
  /** The document's metadata, as are its name, type, readers and time. */
  metadata: Metadata;
  readers: DocumentReader[] | null;
  name: string;
  mime_type: string;
  created_at: Date;
  page: number | null;
  section: string | null;
  lead: string;
  text: string;
  /** Where the text begins in the Markdown of the document, in UTF-16 code units. */
  start: number;
  /** The vector, normalized to length 1, and its space; absent: only words find the passage. */
  vector?: { space: string; values: Float32Array };
}

/** Passages to remove: those of all generations of a document (`below_generation` null), of older generations, or of one. */
export interface PassageRemoval {
  document_id: string;
  below_generation: number | null;
  only_generation?: number;
}

/** The number of passages of one generation. */
export interface IndexedGeneration {
  document_id: string;
  generation: number;
  passages: number;
}

export type ChangeResult = { ok: true; finished_at: string } | { ok: false; error: string };

/** A queued change, by the number that the search server gave it. */
export type IndexChangeId = number;

/**
 * The indexes of the deployment. One serves; another can be filled next to it. Changes are queued in order, and `waitFor`
 * returns their results. Every method throws if the search server is unavailable.
 */
export interface PassageIndex {
  /** Creates an empty index. */
  create(index: string): Promise<void>;
  /** Whether the index that `create` made still exists. An index that others have emptied counts as missing. */
  exists(index: string): Promise<boolean>;
  /** The number of passages in the index. */
  count(index: string): Promise<number>;
  /** The generations in the index; undefined if they changed while they were read. */
  generations(index: string): Promise<IndexedGeneration[] | undefined>;
  /**
   * Makes the server load its dictionaries, so that the first search in a language is fast. Also applies settings that an index of
   * an earlier release lacks and that need no refill.
   */
  warm(index: string): Promise<void>;
  /** Ids of the indexes of this deployment. */
  list(): Promise<string[]>;
  drop(index: string): Promise<void>;
  /** Queues passages, in several changes if there are many. They replace passages with the same (document, generation, seq). */
  put(index: string, passages: IndexedPassage[]): Promise<IndexChangeId[]>;
  /** Queues a removal, in one change for the words and one for each length of vectors: all of them must succeed. */
  remove(index: string, removals: PassageRemoval[]): Promise<IndexChangeId[]>;
  /** Waits until each change is done. A change that the server no longer knows counts as failed. */
  waitFor(changes: IndexChangeId[]): Promise<Map<IndexChangeId, ChangeResult>>;
}

/** The serving index, and the version of the code that filled it. */
export interface ServingIndex {
  index: string;
  version: number;
}

export interface IndexStatus {
  /** Null before the first document. */
  serving: ServingIndex | null;
  /** The checkpoint: the position up to which the serving index has followed the log. */
  position: number;
  /** The position of the documents read model, which decides what search may show. */
  projected: number;
  /** The end of the log. */
  head: number;
  /** Whether an operator has requested a new index. */
  build_requested: boolean;
}

/** The record of the serving index, its checkpoint and a requested build. */
export interface IndexRegistry {
  status(): Promise<IndexStatus>;
  /** The number of passages that search may show, without those of some documents; 0 if there is no read model. */
  countSearchable(except: string[]): Promise<number>;
  /** The generations that search may show; undefined if there is no read model. */
  listSearchable(): Promise<IndexedGeneration[] | undefined>;
  /** Makes the first index serve. False if another one serves already. */
  startServing(first: ServingIndex): Promise<boolean>;
  /** Moves the checkpoint forward, never back. */
  advance(position: number): Promise<void>;
  /** Saves how far a new index is filled, for status reports. */
  saveBuildProgress(position: number, target: number): Promise<void>;
  /** Drops the request for a new index. */
  cancelBuild(): Promise<void>;
  /**
   * Makes a new index serve, which is filled up to a position, and drops the request for it. False if `from` does not serve,
   * or if its checkpoint is beyond that position.
   */
  replaceServing(from: string, to: ServingIndex, position: number): Promise<boolean>;
}
