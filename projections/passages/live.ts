import { liveDocuments, type LiveDocument } from "../documents/query.ts";
import type { Db } from "../projection.ts";
import type { Candidate } from "./candidates.ts";
import type { Within } from "./engine.ts";

/** Candidates that are looked up at a time. */
const AT_ONCE = 400;

/** A passage that may be shown now, with its document. */
export type Living = Candidate & { document: LiveDocument };

/** The id of the index that serves; undefined while there is none. */
export const servingIndex = async (db: Db): Promise<string | undefined> => {
  const [row] = await db.query<{ index_id: string }>("select index_id from ops.search_index where name = 'passages'");
  return row?.index_id;
};

/**
 * The first so many of the candidates that may be shown: the index may know of documents that are gone, moved on or tagged
 * anew. `missed` are documents that were found in another generation than the one to be shown: where they are not `seen` in
 * that one as well, index and read model are on their way.
 */
export const livingOf = async (
  db: Db,
  within: Within,
  candidates: Candidate[],
  atLeast: number,
): Promise<{ living: Living[]; seen: Set<string>; missed: Set<string> }> => {
  const living: Living[] = [];
  const [missed, seen] = [new Set<string>(), new Set<string>()];
  const chunk = Math.max(AT_ONCE, atLeast);
  for (let from = 0; from < candidates.length && living.length < atLeast; from += chunk) {
    const some = candidates.slice(from, from + chunk);
    const documents = await liveDocuments(db, within.organization_id, [...new Set(some.map((one) => one.document_id))]);
    for (const candidate of some) {
      const document = documents.get(candidate.document_id);
      if (!document) continue;
      const current = document.live_generation === candidate.generation;
      (current ? seen : missed).add(document.id);
      if (current && allowed(document, within)) living.push({ ...candidate, document });
    }
  }
  return { living, seen, missed };
};

const allowed = (document: LiveDocument, { collection_ids, document_ids, tags }: Within): boolean =>
  collection_ids.includes(document.collection_id) &&
  (document_ids.length === 0 || document_ids.includes(document.id)) &&
  (tags.length === 0 || document.tags.some((tag) => tags.includes(tag)));
