import type { ErasedCounts } from "#events/erasure.ts";
import { findRow, type Db } from "../projection.ts";
import type { OwnedPage } from "../owner.ts";

export interface ErasureRow {
  id: string;
  position: number;
  owner: string;
  status: "running" | "completed";
  /** So far. */
  deleted: ErasedCounts;
  /** The principal. */
  started_by: string;
  created_at: Date;
  completed_at: Date | null;
}

const SELECT =
  "select id, position, owner, status, threads, files, runs, documents, extractions, started_by, created_at, completed_at from read.erasures";
type StoredRow = Omit<ErasureRow, "deleted"> & ErasedCounts;
const parseRow = ({ threads, files, runs, documents, extractions, ...row }: StoredRow): ErasureRow => ({
  ...row,
  position: Number(row.position),
  deleted: { threads, files, runs, documents, extractions },
});

export const getErasure = (db: Db, organization: string, id: string): Promise<ErasureRow | undefined> =>
  findRow(db, `${SELECT} where organization_id = $1 and id = $2`, [organization, id], parseRow);

/** Newest first. */
export async function listErasures(db: Db, organization: string, { before, limit }: OwnedPage): Promise<ErasureRow[]> {
  const rows = await db.query<StoredRow>(
    `${SELECT} where organization_id = $1 and ($2::bigint is null or position < $2) order by position desc limit $3`,
    [organization, before, limit],
  );
  return rows.map(parseRow);
}
