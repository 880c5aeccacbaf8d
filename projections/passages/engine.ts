/* The port to the search server; infra/meilisearch implements it and searches nothing but what these filters allow. */

/** Which passages may be found at all. The organization is never left out. */
export interface Within {
  organization_id: string;
  collection_ids: string[];
  /** Empty: every document. */
  document_ids: string[];
  /** Any one of them; empty: whatever the tags. */
  tags: string[];
}

export interface PassageId {
  document_id: string;
  generation: number;
  seq: number;
}

export interface FoundPassage extends PassageId {
  /** Name of the document and section, as they were indexed. */
  title: string;
  page: number | null;
  section: string | null;
  lead: string;
  text: string;
}

/** One query of several: passages with all of its words, or as many as possible of its rarest ones. */
export interface EngineQuery {
  words: string;
  matching: "all" | "rarest";
  limit: number;
  /** Passages to skip. */
  offset?: number;
}

/** The search could not run: the caller answers 502. */
export class SearchFailed extends Error {
  override name = "SearchFailed";
}

export interface SearchEngine {
  /** Per query, what matches, best first, and about how many there are. Throws SearchFailed, also when the index is lost. */
  search(index: string, within: Within, queries: EngineQuery[]): Promise<{ ids: PassageId[]; total: number }[]>;
  /** Those of the passages that are there and allowed. Throws SearchFailed. */
  fetch(index: string, within: Within, ids: PassageId[]): Promise<FoundPassage[]>;
}
