import { isUuid } from "#events/ids.ts";
import type { Principal } from "#events/envelope.ts";
import { runScope } from "#events/scope.ts";
import { ownerColumn, type OwnedPage, type Owner } from "../owner.ts";
import { decode, encode, findRow, type Db } from "../projection.ts";

export interface FileRow {
  id: string;
  /** Of the event that uploaded it. */
  position: number;
  principal: Principal;
  scope: string;
  filename: string;
  purpose: string;
  mime_type: string;
  bytes: number;
  /** Of the bytes, in hex. */
  sha256: string;
  /** Key of the blob with the bytes, sealed with the data key below. */
  blob: string;
  /** The data key of `file-<id>`, wrapped (base64). */
  wrapped_key: string;
  created_at: Date;
}

// the inner join hides a file as soon as its key is destroyed
const SELECT = `select f.id, f.position, f.principal, f.scope, f.filename, f.purpose, f.mime_type, f.bytes, f.sha256, f.blob, k.wrapped as wrapped_key, f.created_at
  from read.files f join log.keys k on k.thing = 'file-' || f.id`;
const parseRow = (row: FileRow): FileRow => ({
  ...row,
  position: Number(row.position),
  filename: decode(row.filename),
  purpose: decode(row.purpose),
  mime_type: decode(row.mime_type),
  bytes: Number(row.bytes),
});

export async function getFile(db: Db, organization: string, scope: string, id: string): Promise<FileRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<FileRow>(`${SELECT} where f.id = $3 and f.organization_id = $1 and f.scope = $2`, [
    organization,
    scope,
    id,
  ]);
  return row && parseRow(row);
}

/** Newest first. `purpose`: lists only files with this purpose; absent: all. */
export async function listFiles(
  db: Db,
  organization: string,
  scope: string,
  limit: number,
  purpose?: string,
): Promise<FileRow[]> {
  const rows = await db.query<FileRow>(
    `${SELECT} where f.organization_id = $1 and f.scope = $2 and ($4::text is null or f.purpose = $4)
     order by f.created_at desc, f.id desc limit $3`,
    [organization, scope, limit, purpose === undefined ? null : encode(purpose)],
  );
  return rows.map(parseRow);
}

/** Ids of the files that steps of a run have saved. */
export async function listRunFiles(db: Db, organization: string, run_id: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    "select id from read.files where organization_id = $1 and scope = $2 order by created_at, id",
    [organization, runScope(run_id)],
  );
  return rows.map(({ id }) => id);
}

/** A file of any owner. */
export const getAnyFile = (db: Db, organization: string, id: string): Promise<FileRow | undefined> =>
  findRow(db, `${SELECT} where f.id = $2 and f.organization_id = $1`, [organization, id], parseRow);

/** The files of a key or person, whatever their user value, newest first. Agents have none. */
export async function listFilesOf(
  db: Db,
  organization: string,
  owner: Owner,
  { before, limit }: OwnedPage,
): Promise<FileRow[]> {
  const { column, value } = ownerColumn(owner);
  if (column !== "principal") return [];
  const rows = await db.query<FileRow>(
    `${SELECT} where f.organization_id = $1 and f.principal = $2 and ($3::bigint is null or f.position < $3)
     order by f.position desc limit $4`,
    [organization, value, before, limit],
  );
  return rows.map(parseRow);
}

/** The files of these owners, newest first. */
export async function listFilesIn(
  db: Db,
  organization: string,
  scopes: string[],
  { before, limit }: OwnedPage,
): Promise<FileRow[]> {
  const rows = await db.query<FileRow>(
    `${SELECT} where f.organization_id = $1 and f.scope = any ($2::text[]) and ($3::bigint is null or f.position < $3)
     order by f.position desc limit $4`,
    [organization, scopes, before, limit],
  );
  return rows.map(parseRow);
}
