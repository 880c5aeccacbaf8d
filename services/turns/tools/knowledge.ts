/* The port to an organization's knowledge; roles/ puts the read models and the blobs behind it. */

export interface KnowledgeHit {
  document_id: string;
  name: string;
  /** Display name of its collection. */
  collection: string;
  seq: number;
  page: number | null;
  section: string | null;
  /** `p. 4`, a heading path, or `excerpt 13`. */
  reference: string;
  content: string;
  /** Where a person can look it up. */
  url: string;
}

export interface KnowledgeQuery {
  query: string;
  /** Ids; null: every collection of the organization. */
  collections: string[] | null;
  /** Slugs or display names, as the model named them; within `collections`. */
  named: string[];
  document_ids: string[];
  tags: string[];
  limit: number;
}

/** Whole passages of a document, from one on, up to about 40,000 characters. */
export interface KnowledgeWindow {
  document_id: string;
  name: string;
  text: string;
  /** Where to go on; null at the end. */
  next_seq: number | null;
  url: string;
}

/** What was asked for is not there; the message is for the model. */
export class KnowledgeError extends Error {
  override name = "KnowledgeError";
}

/** Everything is within one organization, and within the collections that the request allows. Throws KnowledgeError. */
export interface Knowledge {
  search(organization: string, query: KnowledgeQuery): Promise<KnowledgeHit[]>;
  read(
    organization: string,
    window: { document_id: string; from_seq: number; collections: string[] | null },
  ): Promise<KnowledgeWindow>;
}
