import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { DocumentWarning } from "./knowledge.ts";

/* The search in documents. */

type Value = string | number | boolean;

/** Conditions that a document must all meet. */
export interface DocumentFilter {
  types: string[];
  tags: { all: string[] };
  created_after: string | undefined;
  created_before: string | undefined;
  metadata: Record<string, Value[] | Partial<Record<"gt" | "gte" | "lt" | "lte", Value>>> | undefined;
}

export interface PassageSearch {
  query: string;
  /** Slug; undefined means all collections. */
  collection: string | undefined;
  filter: DocumentFilter;
  grouped: true | undefined;
  /** From 0. */
  page: number;
}

/** Half open, in UTF-16 units. */
export interface Highlight {
  start: number;
  end: number;
}

export interface FoundPassage {
  seq: number;
  page?: number;
  section?: string;
  reference: string;
  score: number;
  /** The header of the table whose rows the content continues. */
  table_header?: string;
  content: string;
  highlights?: Highlight[];
}

export interface SearchResult {
  document: { id: string; name: string; collection_id: string; collection: string; warnings?: DocumentWarning[] };
  score: number;
  passages: FoundPassage[];
  /** Set if each document is shown once. */
  more_passages?: number;
}

export interface FoundPassages {
  results: SearchResult[];
  has_more: boolean;
  /** Endpoints that did not help this time. */
  degraded?: { part: "embeddings" | "reranking"; message: string }[];
}

const HITS_PER_PAGE = 20;

export const searchPassages = ({ query, collection, filter, grouped, page }: PassageSearch) =>
  queryOptions({
    queryKey: ["document", "search", query, collection, filter, grouped, page],
    queryFn: ({ signal }) =>
      call<FoundPassages>("v1/knowledge/search", {
        method: "POST",
        signal,
        body: {
          query,
          filter,
          highlights: true,
          limit: HITS_PER_PAGE,
          offset: page * HITS_PER_PAGE,
          ...(grouped && { group_by: "document" }),
          ...(collection && { collections: [collection] }),
        },
      }),
  });
