import { isUuid } from "#events/ids.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { decodeOrNull, decode, type Db } from "../projection.ts";

export interface ExtractionRow {
  id: string;
  name: string;
  mime_type: string;
  size_bytes: number;
  status: "pending" | "processing" | "ready" | "failed";
  /** Why it could not be read; null if it was. */
  error: string | null;
  /** Key of the blob of the whole Markdown, sealed with the data key below. */
  text_blob: string | null;
  page_count: number | null;
  chunk_count: number | null;
  warnings: ReadingWarning[];
  /** The data key of `extraction-<id>`, wrapped (base64). */
  wrapped_key: string;
  created_at: Date;
  expires_at: Date;
}

type StoredRow = Omit<ExtractionRow, "warnings"> & { warnings: string | null };

/** Undefined if the extraction has expired at `now`. */
export async function getExtraction(
  db: Db,
  organization: string,
  id: string,
  now: Date,
): Promise<ExtractionRow | undefined> {
  if (!isUuid(id)) return undefined;
  // the inner join hides it as soon as its key is destroyed
  const [row] = await db.query<StoredRow>(
    `select e.id, e.name, e.mime_type, e.size_bytes, e.status, e.error, e.text_blob, e.page_count, e.chunk_count, e.warnings,
            k.wrapped as wrapped_key, e.created_at, e.expires_at
     from read.extractions e join log.keys k on k.thing = 'extraction-' || e.id
     where e.organization_id = $1 and e.id = $2 and e.expires_at > $3`,
    [organization, id, now],
  );
  return (
    row && {
      ...row,
      name: decode(row.name),
      mime_type: decode(row.mime_type),
      error: decodeOrNull(row.error),
      warnings: decodeOrNull<ReadingWarning[]>(row.warnings) ?? [],
    }
  );
}
