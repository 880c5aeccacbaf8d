import type { DocumentReader } from "#events/documentDetails.ts";
import type { OwnedPage } from "../owner.ts";
import { encode, type Db } from "../projection.ts";
import { LIVE_READING, parseRow, SELECT_DOCUMENTS, type DocumentRow, type StoredRow } from "./query.ts";

/* A document belongs to its first uploader. One that only a single external user may read belongs to that user. */

/** Ids of documents that only this external user may read. Reads all of the organization's documents, because the value is not in any index. */
export async function listDocumentsForUser(db: Db, organization: string, user: string): Promise<string[]> {
  const readers: DocumentReader[] = [{ external_user: user }];
  const rows = await db.query<{ id: string }>(
    `select d.id from read.collections c join read.documents d on d.collection_id = c.id
     where c.organization_id = $1 and d.readers = $2 order by d.created_at, d.id`,
    [organization, encode(readers)],
  );
  return rows.map(({ id }) => id);
}

/** The documents uploaded by somebody, or those with these ids, newest first. */
export async function listOwnedDocuments(
  db: Db,
  organization: string,
  whose: { principal: string } | { ids: string[] },
  { before, limit }: OwnedPage,
): Promise<(DocumentRow & { position: number })[]> {
  const [which, value] =
    "ids" in whose ? ["g.id = any ($2::uuid[])", whose.ids] : ["g.principal = $2", whose.principal];
  const rows = await db.query<StoredRow & { position: string }>(
    `select d.*, g.position from read.usage_holdings g
       join (${SELECT_DOCUMENTS} ${LIVE_READING} where d.organization_id = $1) d on d.id = g.id
     where g.organization_id = $1 and ${which} and ($3::bigint is null or g.position < $3)
     order by g.position desc limit $4`,
    [organization, value, before, limit],
  );
  return rows.map(({ position, ...row }) => ({ ...parseRow(row), position: Number(position) }));
}
