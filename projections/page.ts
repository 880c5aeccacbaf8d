import type { Db } from "./projection.ts";

/** A part of a list. */
export interface Page {
  limit: number;
  offset: number;
}

/** The rows of a page, and how many the whole list has. */
export interface PageRows<Row> {
  rows: Row[];
  total: number;
}

interface List<Stored, Row> {
  /** SQL of all rows, in order. */
  ordered: string;
  /** The same rows from `from` on, without what a count does not need. */
  from: string;
  /** The parameters of both. */
  values: unknown[];
  parseRow(row: Stored): Row;
}

export async function readPage<Stored, Row>(
  db: Db,
  { limit, offset }: Page,
  { ordered, from, values, parseRow }: List<Stored, Row>,
): Promise<PageRows<Row>> {
  const [nth, next] = [values.length + 1, values.length + 2];
  const rows = await db.query<Stored>(`${ordered} limit $${nth} offset $${next}`, [...values, limit, offset]);
  const [count] = await db.query<{ total: number }>(`select count(*)::integer as total ${from}`, values);
  return { rows: rows.map(parseRow), total: count!.total };
}
