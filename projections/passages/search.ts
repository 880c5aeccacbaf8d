import { setTimeout as sleep } from "node:timers/promises";
import { hasLiveDocuments } from "../documents/query.ts";
import type { ReaderIdentity } from "../documents/readers.ts";
import type { Db } from "../projection.ts";
import { SearchFailed, type DocumentFilter, type SearchEngine, type SearchScope } from "./engine.ts";
import { groupByDocument, keepBestPassages, type SearchResult } from "./groupHits.ts";
import { createHighlighter } from "./highlights.ts";
import { servingIndex } from "./liveCandidates.ts";
import { findExactHits, findHits, MAX_COMPARED_PASSAGES, type FoundHits, type ResultRange } from "./findHits.ts";
import { askModels, findModelHits } from "./modelHits.ts";
import type { Degradation, SearchModels } from "./models.ts";
import { hasOperators, readOperators } from "./operators.ts";
import { readQuestion } from "./terms.ts";

/** Attempts, and the pause between them, when a document changes during the search. */
const MAX_ATTEMPTS = 3;
const RETRY_MS = 25;

export interface PassageSearch {
  query: string;
  collections: { id: string }[];
  /** Empty: any document. */
  document_ids: string[];
  /** At least one of these tags; empty: any document. */
  tags: string[];
  filter?: DocumentFilter | undefined;
  reader: ReaderIdentity;
  /** Both count passages, or documents with `by_document`. */
  limit: number;
  offset: number;
  /** Whether quotes and dashes in the query are operators. */
  operators?: boolean;
  /** Whether each document appears with its best passage only. */
  by_document?: boolean;
  /** Whether passages include the places of the query's words. */
  highlights?: boolean;
}

export interface SearchDeps {
  db: Db;
  engine: SearchEngine;
  /** Absent: search by words only. */
  models?: SearchModels;
}

export interface FoundPassages {
  results: SearchResult[];
  has_more: boolean;
  /** Empty: every configured model worked. */
  degraded: Degradation[];
}

/** A search with operators or a filter asked for a page beyond the passages that are compared. */
export class SearchTooDeep extends Error {
  constructor(hasOperators: boolean) {
    const asked = hasOperators
      ? `quotes or -word compares the ${MAX_COMPARED_PASSAGES} best passages`
      : "a filter compares a limited number of passages";
    super(`a search with ${asked}, and shows no others`);
  }
}

/** Maximum passages whose documents are counted. */
const MAX_GROUPED = 1_000;

/**
 * The best passages for a question, grouped by document (spec: Knowledge API, Search rules). Sorted by score, then by
 * document and position. Throws SearchFailed and SearchTooDeep.
 */
export async function searchPassages(
  { db, engine, models }: SearchDeps,
  organization_id: string,
  { query, collections, document_ids, tags, filter, reader, limit, offset, ...wanted }: PassageSearch,
): Promise<FoundPassages> {
  const collection_ids = collections.map(({ id }) => id);
  const within: SearchScope = { organization_id, collection_ids, document_ids, tags, filter, reader };
  const read = wanted.operators ? readOperators(query) : undefined;
  const question = readQuestion(read?.text ?? query);
  if (question.terms.length === 0 || !(await hasLiveDocuments(db, organization_id, within)))
    return { results: [], has_more: false, degraded: [] };
  const operators = read && hasOperators(read) ? read : undefined;
  const span = wanted.by_document ? { from: 0, to: MAX_GROUPED } : { from: offset, to: offset + limit + 1 };
  const askedModels = askModels((await models?.find(organization_id)) ?? {}, read?.text ?? query);
  const { hits, more, isCut } = await searchUntilStable(db, ({ id, version }) => {
    const context = { db, engine: engineFor(engine, version), index: id, within, operators };
    const findWords = (some: ResultRange) =>
      operators ? findExactHits({ ...context, operators }, question, some) : findHits(context, question, some);
    return askedModels ? findModelHits(context, askedModels, findWords, span) : findWords(span);
  });
  const degraded = askedModels?.degraded ?? [];
  const highlight = wanted.highlights ? createHighlighter(question) : undefined;
  if (!wanted.by_document) {
    if (isCut && hits.length === 0 && offset > 0) throw new SearchTooDeep(operators !== undefined);
    return {
      results: groupByDocument(hits.slice(0, limit), highlight),
      has_more: more || isCut || hits.length > limit,
      degraded,
    };
  }
  const documents = keepBestPassages(groupByDocument(hits, highlight));
  return { results: documents.slice(offset, offset + limit), has_more: documents.length > offset + limit, degraded };
}

/** The first index version with the fields that documents are filtered by. */
const FILTER_VERSION = 2;

/** What an older index cannot filter by. */
const UNKNOWN = { filter: undefined, reader: undefined };

/** An older index serves until a new one is filled. Until then, a search reads more from it and drops what does not match. */
const engineFor = (engine: SearchEngine, version: number): SearchEngine =>
  version >= FILTER_VERSION
    ? engine
    : {
        nearest: (index, within, vector, limit) => engine.nearest(index, { ...within, ...UNKNOWN }, vector, limit),
        search: (index, within, queries) => engine.search(index, { ...within, ...UNKNOWN }, queries),
        fetch: (index, within, ids) => engine.fetch(index, { ...within, ...UNKNOWN }, ids),
      };

/** Repeats the search if a document changed meanwhile, or if another index replaced the serving one. */
type ServingIndex = NonNullable<Awaited<ReturnType<typeof servingIndex>>>;

const searchUntilStable = async (db: Db, searchIn: (index: ServingIndex) => Promise<FoundHits>): Promise<FoundHits> => {
  for (let attempt = 1; ; attempt++) {
    const index = await servingIndex(db);
    if (index === undefined) throw new SearchFailed("No index serves at this moment.");
    try {
      const found = await searchIn(index);
      if (found.isStable || attempt >= MAX_ATTEMPTS) return found;
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || (await servingIndex(db))?.id === index.id) throw error;
    }
    await sleep(RETRY_MS);
  }
};
