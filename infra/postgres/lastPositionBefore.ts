import type { Db } from "#projections/projection.ts";

/** The log's last position before a time; 0 if there is none. Bisects, because the log has no index by time. */
export async function lastPositionBefore(db: Db, time: Date): Promise<number> {
  const [head] = await db.query<{ position: number }>("select position from log.head");
  let [low, high] = [0, head!.position];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const sql = "select recorded_at < $2 as before from log.events where position = $1";
    const [found] = await db.query<{ before: boolean }>(sql, [middle, time]);
    if (found!.before) low = middle;
    else high = middle - 1;
  }
  return low;
}
