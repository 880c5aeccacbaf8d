import { countRows } from "./countRows.ts";
import type { Db } from "./projection.ts";

/** A range of a list. */
export interface Page {
  limit: number;
  offset: number;
}

/** The rows of a page, and the number of rows in the whole list. */
export interface PageRows<Row> {
  rows: Row[];
  total: number;
}

/**
 * Maximum bytes of a page's rows: responses are serialized on the event loop, and 500 rows may have 100 KB each
 * (docs/adr/0068-what-one-answer-holds-is-limited.md).
 */
export const MAX_PAGE_BYTES = 2_000_000;

/** Returns the first rows of a query, up to MAX_PAGE_BYTES in total but at least one, in the query's order. */
export async function queryPage<Stored extends object>(db: Db, query: string, values: unknown[]): Promise<Stored[]> {
  // a window without an order keeps the order of the query
  const rows = await db.query<Stored & { page_bytes?: number; page_row?: number }>(
    `select * from (
       select page.*, row_number() over () as page_row,
         sum(octet_length(page::text)) over (rows unbounded preceding) as page_bytes
       from (${query}) page
     ) measured where page_bytes <= ${MAX_PAGE_BYTES} or page_row = 1`,
    values,
  );
  for (const row of rows) {
    delete row.page_bytes;
    delete row.page_row;
  }
  return rows;
}

interface List<Stored, Row> {
  /** SQL of all rows, in order. */
  ordered: string;
  /** The SQL from `from` on, without what counting does not need. */
  from: string;
  /** The parameters of both. */
  values: unknown[];
  parseRow(row: Stored): Row;
}

export async function readPage<Stored extends object, Row>(
  db: Db,
  { limit, offset }: Page,
  { ordered, from, values, parseRow }: List<Stored, Row>,
): Promise<PageRows<Row>> {
  const [nth, next] = [values.length + 1, values.length + 2];
  const rows = await queryPage<Stored>(db, `${ordered} limit $${nth} offset $${next}`, [...values, limit, offset]);
  return { rows: rows.map(parseRow), total: await countRows(db, from, values) };
}
