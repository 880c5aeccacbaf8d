import { isUuid } from "#events/ids.ts";
import { decode, decoded, type Db } from "../projection.ts";

export interface ExtractionRow {
  id: string;
  name: string;
  mime_type: string;
  size_bytes: number;
  status: "pending" | "processing" | "ready" | "failed";
  /** Why it could not be read. */
  error: string | null;
  /** Key of the blob of the whole Markdown, sealed with the data key below. */
  text_blob: string | null;
  page_count: number | null;
  chunk_count: number | null;
  /** The data key of `extraction-<id>`, wrapped (base64). */
  wrapped_key: string;
  created_at: Date;
  expires_at: Date;
}

/** An extraction of an organization that has not expired by `now`. */
export async function getExtraction(
  db: Db,
  organization: string,
  id: string,
  now: Date,
): Promise<ExtractionRow | undefined> {
  if (!isUuid(id)) return undefined;
  // the inner join hides it from the moment its key is gone
  const [row] = await db.query<ExtractionRow>(
    `select e.id, e.name, e.mime_type, e.size_bytes, e.status, e.error, e.text_blob, e.page_count, e.chunk_count,
            k.wrapped as wrapped_key, e.created_at, e.expires_at
     from read.extractions e join log.keys k on k.thing = 'extraction-' || e.id
     where e.organization_id = $1 and e.id = $2 and e.expires_at > $3`,
    [organization, id, now],
  );
  return row && { ...row, name: decoded(row.name), mime_type: decoded(row.mime_type), error: decode(row.error) };
}
