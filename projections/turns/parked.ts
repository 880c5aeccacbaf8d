import type { Db } from "../projection.ts";

/** The number of an organization's turns that wait for the approval of a tool call. */
export async function countParkedTurns(db: Db, organization: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    "select count(*)::integer as count from read.turns where organization_id = $1 and parked_at is not null",
    [organization],
  );
  return row!.count;
}
