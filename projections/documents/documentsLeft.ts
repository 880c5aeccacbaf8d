import { existsHoldOn } from "../holds/query.ts";
import type { Db } from "../projection.ts";

const BATCH = 1_000;

/** Documents that are still to be deleted. */
export interface DocumentsLeft {
  /** Ids of up to BATCH of them that no legal hold keeps, oldest first. */
  ids: string[];
  /** Whether documents are left, but holds keep all of them. */
  areHeld: boolean;
}

/** `which`: an SQL condition on a document `o` with the parameter $1. Also finds documents of deleted collections. */
export async function listDocumentsLeft(db: Db, which: string, value: string): Promise<DocumentsLeft> {
  const from = `from read.documents o where ${which}`;
  const free = await db.query<{ id: string }>(
    `select o.id ${from} and not ${existsHoldOn("documents")} order by o.created_at, o.id limit ${BATCH}`,
    [value],
  );
  const areHeld = free.length === 0 && (await db.query(`select ${from} limit 1`, [value])).length > 0;
  return { ids: free.map(({ id }) => id), areHeld };
}

/** The documents of a deleted collection that are still to be deleted. */
export const listCollectionDocuments = (db: Db, collection: string): Promise<DocumentsLeft> =>
  listDocumentsLeft(db, "o.collection_id = $1", collection);
