import type { LiveDocument } from "../documents/query.ts";
import type { FoundPassage } from "./engine.ts";
import { referenceOf } from "./reference.ts";

/** A passage that answers the question, with what it belongs to. */
export interface Hit {
  passage: FoundPassage;
  document: LiveDocument;
  /** To be compared within one response. */
  score: number;
}

/** A document with those of its passages that are on the page, best first (spec: search response). */
export interface SearchResult {
  /** `collection` is the display name. */
  document: { id: string; name: string; collection_id: string; collection: string };
  score: number;
  passages: {
    seq: number;
    /** Null where the type has no pages, or the document no headings. */
    page: number | null;
    section: string | null;
    reference: string;
    score: number;
    content: string;
  }[];
}

/** Hits by document, in the order of each document's best. */
export const grouped = (hits: Hit[]): SearchResult[] => {
  const results = new Map<string, SearchResult>();
  for (const { passage, document, score } of hits) {
    const { id, name, collection_id, collection } = document;
    const result = results.get(id) ?? { document: { id, name, collection_id, collection }, score, passages: [] };
    const { seq, page, section } = passage;
    result.passages.push({ seq, page, section, reference: referenceOf(passage), score, content: passage.text.trim() });
    results.set(id, result);
  }
  return [...results.values()];
};
