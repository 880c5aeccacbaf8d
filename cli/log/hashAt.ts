import type { Db } from "#projections/projection.ts";

/** The hash (hex) stored with the event at a position; undefined if there is none. */
export async function hashAt(db: Db, position: number): Promise<string | undefined> {
  const [row] = await db.query<{ hash: string }>(
    "select encode(hash, 'hex') as hash from log.events where position = $1",
    [position],
  );
  return row?.hash;
}
