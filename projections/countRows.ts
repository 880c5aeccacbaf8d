import type { Db } from "./projection.ts";

/** How many rows there are. `from`: SQL from `from` on. */
export async function countRows(db: Db, from: string, values: unknown[]): Promise<number> {
  const [row] = await db.query<{ total: number }>(`select count(*)::integer as total ${from}`, values);
  return row!.total;
}
