import type { Db } from "#projections/projection.ts";

/** The number of events of a type in the log, or in that of one organization. */
export async function countEvents(db: Db, type: string, organization_id?: string): Promise<number> {
  const sql = `select count(*)::integer as n from log.events
    where type = $1 and ($2::uuid is null or organization_id = $2::uuid)`;
  return (await db.query<{ n: number }>(sql, [type, organization_id ?? null]))[0]!.n;
}
