import { MAX_PASSAGE } from "#events/textSize.ts";
import type { Db } from "./projection.ts";

/* What organizations have stored as blobs. Limits on it are not exact, because read models lag. */

export interface StoredFiles {
  bytes: number;
  /** Documents and extractions that wait to be read, or are being read. */
  unread: number;
}

/** What a file, an extraction or a document takes besides its bytes: its rows, and the unused end of its last block on disk. */
const ITEM_BYTES = 4_096;

/**
 * The summaries have the bytes of the documents that are ready. The others are added, because a failed one keeps its file. What
 * texts take beyond their files is counted every minute.
 */
const STORED_BY_ORGANIZATIONS = `
  select o.id, (others.unread + extractions.unread)::integer as unread, (
    (select coalesce(sum(stored_bytes), 0) from read.turns where organization_id = o.id and stored_bytes > 0)
    + (select coalesce(sum(bytes + ${ITEM_BYTES}), 0) from read.files where organization_id = o.id)
    + (select coalesce(sum(s.bytes + s.total * ${ITEM_BYTES}::bigint), 0)
       from read.collections c join ops.collection_summaries s on s.collection_id = c.id where c.organization_id = o.id)
    + extractions.bytes + others.bytes
    + coalesce((select text_bytes from ops.log_bytes where organization_id = o.id), 0)
    + (select coalesce(sum(stored_bytes), 0) from read.definitions where organization_id = o.id)
  )::bigint as bytes
  from unnest($1::uuid[]) o (id)
  cross join lateral (
    select coalesce(sum(greatest(size_bytes, chunk_count * ${MAX_PASSAGE}::bigint) + ${ITEM_BYTES}), 0) as bytes,
      count(*) filter (where status in ('pending', 'processing')) as unread
    from read.extractions where organization_id = o.id
  ) extractions
  cross join lateral (
    select coalesce(sum(d.size_bytes), 0) as bytes, count(*) filter (where d.status <> 'failed') as unread
    from read.collections c join read.documents d on d.collection_id = c.id and d.status in ('pending', 'processing', 'failed')
    where c.organization_id = o.id
  ) others`;

/** What each organization has stored. */
export async function storedFiles(db: Db, organizations: string[]): Promise<Map<string, StoredFiles>> {
  const rows = await db.query<StoredFiles & { id: string }>(STORED_BY_ORGANIZATIONS, [organizations]);
  return new Map(rows.map(({ id, bytes, unread }) => [id, { bytes: Number(bytes), unread }]));
}

export async function threadBytes(db: Db, organization: string, thread: string): Promise<number> {
  const [row] = await db.query<{ bytes: number }>(
    "select coalesce(sum(stored_bytes), 0)::bigint as bytes from read.turns where thread_id = $2 and organization_id = $1",
    [organization, thread],
  );
  return Number(row!.bytes);
}
