import type { MetadataValue, DocumentReader } from "#events/documentDetails.ts";

/* The port to the search server. infra/meilisearch implements it and applies these filters to every query. */

/** Values that count, or bounds within which a number or a text must be. Texts are compared by code units, as dates of ISO 8601 sort. */
export type MetadataCondition = { key: string } & ({ values: MetadataValue[] } | { bounds: Bounds });

export interface Bounds {
  gt?: number | string;
  gte?: number | string;
  lt?: number | string;
  lte?: number | string;
}

/** Half open: `from` counts, `before` does not. */
export interface Period {
  from?: Date | undefined;
  before?: Date | undefined;
}

/** What a document must be like. Every condition must hold. */
export interface DocumentFilter {
  /** It has one of them; empty: any. */
  any_tags: string[];
  /** It has all of them. */
  all_tags: string[];
  /** Media types, of which it has one; empty: any. */
  types: string[];
  created: Period;
  updated: Period;
  metadata: MetadataCondition[];
}

/** The passages that a search may find. The organization is always part of the filter. */
export interface SearchScope {
  organization_id: string;
  collection_ids: string[];
  /** Empty: any document. */
  document_ids: string[];
  /** The document has at least one of them; empty: any document. */
  tags: string[];
  /** Absent: any document. */
  filter?: DocumentFilter | undefined;
  /** Everything that the reader is: documents may name who may read them. */
  reader: readonly DocumentReader[];
}

/** The part of the scope that the search server checks. An older index may lack the marks of the filter and the readers. */
export type EngineScope = Omit<SearchScope, "reader"> & { reader?: SearchScope["reader"] | undefined };

export interface PassageId {
  document_id: string;
  generation: number;
  seq: number;
}

export interface FoundPassage extends PassageId {
  /** Indexed name of the document and section. */
  title: string;
  page: number | null;
  section: string | null;
  lead: string;
  text: string;
  /** Where the text begins in the Markdown of the document; absent while an index of an earlier version serves. */
  start?: number;
}

/** `all`: passages with all words. `rarest`: passages with as many of the rarest words as possible. */
export interface EngineQuery {
  words: string;
  matching: "all" | "rarest";
  limit: number;
  /** Passages to skip. */
  offset?: number;
}

/** The search could not run. The API responds with 502. */
export class SearchFailed extends Error {
  override name = "SearchFailed";
}

/** Too many searches wait for the search server. The API responds with 503. */
export class SearchBusy extends SearchFailed {
  override name = "SearchBusy";
}

/** A query as a vector, and the space in which it can be compared with passages. */
export interface QueryVector {
  space: string;
  values: Float32Array;
}

export interface NearPassage extends PassageId {
  /** The cosine of the angle between both vectors: 1 is the same direction. */
  nearness: number;
}

export interface SearchEngine {
  /** The passages whose vectors are nearest, nearest first; none if no passage has a vector of this space. Throws SearchFailed. */
  nearest(index: string, within: EngineScope, vector: QueryVector, limit: number): Promise<NearPassage[]>;
  /** The matches of each query, best first, and their approximate number. Throws SearchFailed, also if the index is missing. */
  search(index: string, within: EngineScope, queries: EngineQuery[]): Promise<{ ids: PassageId[]; total: number }[]>;
  /** The passages among `ids` that exist and that the scope allows. Throws SearchFailed. */
  fetch(index: string, within: EngineScope, ids: PassageId[]): Promise<FoundPassage[]>;
}
