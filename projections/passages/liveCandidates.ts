import { createPause } from "#events/slices.ts";
import { findLiveDocuments, type LiveDocument } from "../documents/query.ts";
import { mayRead } from "../documents/readers.ts";
import type { Db } from "../projection.ts";
import type { Candidate } from "./candidates.ts";
import { matchesFilter } from "./documentFilter.ts";
import type { SearchScope } from "./engine.ts";

/** Candidates per query: slightly more than are ranked, because some may have been replaced. */
const BATCH_SIZE = 250;
/** Maximum candidates per query. Each may be of another document, whose row is parsed. */
const MAX_BATCH_SIZE = 1_000;

/** A passage that search may show, with its document. */
export type LiveCandidate = Candidate & { document: LiveDocument };

/** The serving index, and the version of the code that filled it; undefined while there is none. */
export const servingIndex = async (db: Db): Promise<{ id: string; version: number } | undefined> => {
  const rows = await db.query<{ id: string; version: number }>(
    "select index_id as id, version from ops.search_index where name = 'passages'",
  );
  return rows[0];
};

/**
 * Selects the first candidates that search may show, at least `atLeast` if there are as many. The index may still hold documents
 * that were deleted, replaced or retagged. `missed`: documents found in another than the live generation. If a missed document is
 * not also `seen` in its live generation, index and read model are out of step.
 */
export const selectLive = async (
  db: Db,
  within: SearchScope,
  candidates: Candidate[],
  atLeast: number,
): Promise<{ live: LiveCandidate[]; seen: Set<string>; missed: Set<string> }> => {
  const live: LiveCandidate[] = [];
  const [missed, seen] = [new Set<string>(), new Set<string>()];
  const chunk = Math.min(MAX_BATCH_SIZE, Math.max(BATCH_SIZE, atLeast));
  const isAllowed = createScopeTest(within);
  const pause = createPause();
  for (let from = 0; from < candidates.length && live.length < atLeast; from += chunk) {
    const some = candidates.slice(from, from + chunk);
    const documents = await findLiveDocuments(db, within.organization_id, [
      ...new Set(some.map((one) => one.document_id)),
    ]);
    for (const candidate of some) {
      await pause();
      const document = documents.get(candidate.document_id);
      if (!document) continue;
      const current = document.live_generation === candidate.generation;
      (current ? seen : missed).add(document.id);
      if (current && isAllowed(document)) live.push({ ...candidate, document });
    }
  }
  return { live, seen, missed };
};

/** Tests whether a scope, which may name thousands of documents and tags, includes a document. Tests each document once. */
function createScopeTest({ collection_ids, document_ids, tags, filter, reader }: SearchScope) {
  const [collections, ids, wanted] = [new Set(collection_ids), new Set(document_ids), new Set(tags)];
  const includes = (document: LiveDocument): boolean =>
    collections.has(document.collection_id) &&
    (ids.size === 0 || ids.has(document.id)) &&
    (wanted.size === 0 || document.tags.some((tag) => wanted.has(tag))) &&
    mayRead(document.readers, reader) &&
    (!filter || matchesFilter(document, filter));
  const known = new Map<LiveDocument, boolean>();
  return (document: LiveDocument): boolean => {
    const isIncluded = known.get(document) ?? includes(document);
    known.set(document, isIncluded);
    return isIncluded;
  };
}
