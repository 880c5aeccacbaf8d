import type { Db } from "./projection.ts";

/** Counts rows. `from`: SQL starting with `from`. */
export async function countRows(db: Db, from: string, values: unknown[]): Promise<number> {
  const [row] = await db.query<{ total: number }>(`select count(*)::integer as total ${from}`, values);
  return row!.total;
}
