import type pg from "pg";

/** The log's last position before a time, 0 if there is none. Bisects, because the log has no index by time. */
export async function lastPositionBefore(pool: Pick<pg.Pool, "query">, time: Date): Promise<number> {
  const { rows } = await pool.query<{ position: number }>("select position from log.head");
  let [low, high] = [0, rows[0]!.position];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const sql = "select recorded_at < $2 as before from log.events where position = $1";
    const found = await pool.query<{ before: boolean }>(sql, [middle, time]);
    if (found.rows[0]!.before) low = middle;
    else high = middle - 1;
  }
  return low;
}
