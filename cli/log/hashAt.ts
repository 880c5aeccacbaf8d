import type { Db } from "#projections/projection.ts";

/** The chain's hash (hex) as it is stored with an event; undefined when there is none at that position. */
export async function hashAt(db: Db, position: number): Promise<string | undefined> {
  const [row] = await db.query<{ hash: string }>(
    "select encode(hash, 'hex') as hash from log.events where position = $1",
    [position],
  );
  return row?.hash;
}
