import type { PageResult } from "#events/source.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { listDocumentsLeft, type DocumentsLeft } from "../documents/documentsLeft.ts";
import { decodeOrNull, type Db } from "../projection.ts";

/** A page of a source, as of the last read of it. */
export interface SourcePage {
  page: string;
  url: string;
  document_id: string | null;
  content_claim: string | null;
  etag: string | null;
  last_modified: string | null;
  result: PageResult;
  error: string | null;
  read: number;
  checked_at: Date;
  changed_at: Date | null;
}

const SELECT = `select page, url, document_id, content_claim, etag, last_modified, result, error, read, checked_at, changed_at
  from read.source_pages`;

const parseRow = (row: SourcePage): SourcePage => ({
  ...row,
  url: decodeOrNull(row.url) ?? "",
  etag: decodeOrNull(row.etag),
  last_modified: decodeOrNull(row.last_modified),
  error: decodeOrNull(row.error),
});

/** The pages of a source, most recently checked first. */
export function listSourcePages(
  db: Db,
  source: string,
  result: PageResult | undefined,
  page: Page,
): Promise<PageRows<SourcePage>> {
  const where = "where source_id = $1 and ($2::text is null or result = $2)";
  return readPage<SourcePage, SourcePage>(db, page, {
    ordered: `${SELECT} ${where} order by checked_at desc, page`,
    from: `from read.source_pages ${where}`,
    values: [source, result ?? null],
    parseRow,
  });
}

export async function allSourcePages(db: Db, source: string): Promise<SourcePage[]> {
  return (await db.query<SourcePage>(`${SELECT} where source_id = $1`, [source])).map(parseRow);
}

/** What is left of the documents of a source. */
export const listSourceDocuments = (db: Db, source: string): Promise<DocumentsLeft> =>
  listDocumentsLeft(db, "o.id in (select document_id from read.source_pages where source_id = $1)", source);
