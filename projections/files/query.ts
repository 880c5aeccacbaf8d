import { isUuid } from "#events/ids.ts";
import { decoded, type Db } from "../projection.ts";

export interface FileRow {
  id: string;
  filename: string;
  purpose: string;
  mime_type: string;
  bytes: number;
  /** Key of the blob with the bytes, sealed with the data key below. */
  blob: string;
  /** The data key of `file-<id>`, wrapped (base64). */
  wrapped_key: string;
  created_at: Date;
}

// the inner join hides a file from the moment its key is gone
const SELECT = `select f.id, f.filename, f.purpose, f.mime_type, f.bytes, f.blob, k.wrapped as wrapped_key, f.created_at
  from read.files f join log.keys k on k.thing = 'file-' || f.id`;
const present = (row: FileRow): FileRow => ({
  ...row,
  filename: decoded(row.filename),
  purpose: decoded(row.purpose),
  mime_type: decoded(row.mime_type),
  bytes: Number(row.bytes),
});

export async function getFile(db: Db, organization: string, scope: string, id: string): Promise<FileRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<FileRow>(`${SELECT} where f.id = $3 and f.organization_id = $1 and f.scope = $2`, [
    organization,
    scope,
    id,
  ]);
  return row && present(row);
}

/** Newest first. */
export async function listFiles(db: Db, organization: string, scope: string, limit: number): Promise<FileRow[]> {
  const rows = await db.query<FileRow>(
    `${SELECT} where f.organization_id = $1 and f.scope = $2 order by f.created_at desc, f.id desc limit $3`,
    [organization, scope, limit],
  );
  return rows.map(present);
}
