import type { Principal } from "#events/envelope.ts";

/* The port to an organization's documents. roles/ implements it with the read models and the blobs. */

export interface KnowledgeHit {
  document_id: string;
  name: string;
  /** Display name of its collection. */
  collection: string;
  /** The version of the document that was searched. */
  version: number;
  seq: number;
  page: number | null;
  section: string | null;
  /** `p. 4`, a heading path, or `excerpt 13`. */
  reference: string;
  /** The header of the table whose rows the content continues. */
  table_header?: string;
  content: string;
  /** Where the content begins in that text; absent in an index written by an earlier version. */
  start?: number;
  end?: number;
  /** For people: a link that opens the passage. */
  url: string;
  /** What the text of the document lacks, in sentences; with its first hit only. */
  warnings?: string[];
}

/** The person or key on whose behalf a turn reads. */
export interface KnowledgeReader {
  principal: Principal;
  /** The end user named in the request. */
  user: string | null;
}

export interface KnowledgeQuery {
  reader: KnowledgeReader;
  query: string;
  /** Ids; null: every collection of the organization. */
  collections: string[] | null;
  /** Slugs or display names that the model gave; they narrow `collections` down. */
  named: string[];
  document_ids: string[];
  tags: string[];
  limit: number;
}

/** Consecutive whole passages of a document, about 40,000 characters at most. */
export interface KnowledgeWindow {
  document_id: string;
  name: string;
  text: string;
  version: number;
  /** The first passage of the window. */
  seq: number;
  /** Where the window is in the text of the document. */
  start: number;
  end: number;
  /** The first passage after the window; null at the end. */
  next_seq: number | null;
  /** The header of the table in which the text begins. */
  table_header?: string;
  url: string;
  /** What the text of the document lacks, in sentences. */
  warnings?: string[];
}

/** A document or a collection does not exist; the message is for the model. */
export class KnowledgeError extends Error {
  override name = "KnowledgeError";
}

/** The search could not run; `cause` says why. */
export class SearchUnavailable extends KnowledgeError {
  override name = "SearchUnavailable";
}

/** Sees one organization only, the collections that the request allows, and the documents that the reader may read. Throws KnowledgeError. */
export interface Knowledge {
  search(organization: string, query: KnowledgeQuery): Promise<KnowledgeHit[]>;
  read(
    organization: string,
    window: { reader: KnowledgeReader; document_id: string; from_seq: number; collections: string[] | null },
  ): Promise<KnowledgeWindow>;
}
