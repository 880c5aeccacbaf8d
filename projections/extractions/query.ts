import { isUuid } from "#events/ids.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import type { OwnedPage } from "../owner.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
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

const COLUMNS = `e.id, e.name, e.mime_type, e.size_bytes, e.status, e.error, e.text_blob, e.page_count, e.chunk_count, e.warnings,
            k.wrapped as wrapped_key, e.created_at, e.expires_at`;
// the inner join hides an extraction as soon as its key is destroyed
const FROM = `from read.extractions e join log.keys k on k.thing = 'extraction-' || e.id`;

const parseRow = (row: StoredRow): ExtractionRow => ({
  ...row,
  name: decode(row.name),
  mime_type: decode(row.mime_type),
  error: decodeOrNull(row.error),
  warnings: decodeOrNull<ReadingWarning[]>(row.warnings) ?? [],
});

/** Undefined if the extraction has expired at `now`. */
export async function getExtraction(
  db: Db,
  organization: string,
  id: string,
  now: Date,
): Promise<ExtractionRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<StoredRow>(
    `select ${COLUMNS} ${FROM} where e.organization_id = $1 and e.id = $2 and e.expires_at > $3`,
    [organization, id, now],
  );
  return row && parseRow(row);
}

/** An organization's extractions that have not expired at `now`, newest first. */
export function listExtractions(
  db: Db,
  organization: string,
  status: ExtractionRow["status"] | null,
  { now, ...page }: Page & { now: Date },
): Promise<PageRows<ExtractionRow>> {
  const from = `${FROM} where e.organization_id = $1 and ($2::text is null or e.status = $2) and e.expires_at > $3`;
  return readPage(db, page, {
    ordered: `select ${COLUMNS} ${from} order by e.created_at desc, e.id desc`,
    from,
    values: [organization, status, now],
    parseRow,
  });
}

/** Unexpired extractions requested by a principal, newest first. */
export async function listOwnedExtractions(
  db: Db,
  organization: string,
  principal: string,
  { before, limit, now }: OwnedPage & { now: Date },
): Promise<(ExtractionRow & { position: number })[]> {
  const rows = await db.query<StoredRow & { position: string }>(
    `select ${COLUMNS}, g.position ${FROM} join read.usage_holdings g on g.id = e.id
     where g.organization_id = $1 and g.principal = $2 and ($3::bigint is null or g.position < $3) and e.expires_at > $5
     order by g.position desc limit $4`,
    [organization, principal, before, limit, now],
  );
  return rows.map(({ position, ...row }) => ({ ...parseRow(row), position: Number(position) }));
}
