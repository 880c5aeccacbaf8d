import { setTimeout as sleep } from "node:timers/promises";
import { anyLive } from "../documents/query.ts";
import type { Db } from "../projection.ts";
import { SearchFailed, type SearchEngine, type Within } from "./engine.ts";
import { grouped, type Hit, type SearchResult } from "./groups.ts";
import { servingIndex } from "./live.ts";
import { look } from "./look.ts";
import { readQuestion } from "./terms.ts";

/** How often, and after how long, it is looked again when a document changes at this moment. */
const LOOKS = 3;
const NEXT_LOOK_MS = 25;

export interface PassageSearch {
  query: string;
  collections: { id: string }[];
  /** Empty: every document. */
  document_ids: string[];
  /** Documents with any one of them; empty: whatever the tags. */
  tags: string[];
  /** Both count passages. */
  limit: number;
  offset: number;
}

/**
 * The passages that answer a question best, by document (spec: Knowledge API, Search rules). Sorted by score, then by
 * document and place. Throws SearchFailed when it cannot run.
 */
export async function searchPassages(
  { db, engine }: { db: Db; engine: SearchEngine },
  organization_id: string,
  { query, collections, document_ids, tags, limit, offset }: PassageSearch,
): Promise<{ results: SearchResult[]; has_more: boolean }> {
  const within: Within = { organization_id, collection_ids: collections.map(({ id }) => id), document_ids, tags };
  const question = readQuestion(query);
  if (question.terms.length === 0 || !(await anyLive(db, organization_id, within)))
    return { results: [], has_more: false };
  const span = { from: offset, to: offset + limit + 1 };
  const hits = await lookUntilSteady(db, (index) => look({ db, engine, index, within }, question, span));
  return { results: grouped(hits.slice(0, limit)), has_more: hits.length > limit };
}

/** A document that changes at this moment, or an index that another has just taken the place of, is looked at again. */
const lookUntilSteady = async (db: Db, lookIn: (index: string) => ReturnType<typeof look>): Promise<Hit[]> => {
  for (let looks = 1; ; looks++) {
    const index = await servingIndex(db);
    if (index === undefined) throw new SearchFailed("No index serves at this moment.");
    try {
      const { hits, steady } = await lookIn(index);
      if (steady || looks >= LOOKS) return hits;
    } catch (error) {
      if (looks >= LOOKS || (await servingIndex(db)) === index) throw error;
    }
    await sleep(NEXT_LOOK_MS);
  }
};
