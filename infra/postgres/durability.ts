import type pg from "pg";

/** If one of these is off, PostgreSQL can lose acknowledged commits in a power cut. */
export const DURABILITY_SETTINGS = ["fsync", "full_page_writes", "synchronous_commit"];

/** The names of durability settings that are off. */
export async function findUnsafeSettings(client: Pick<pg.ClientBase, "query">): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select name from pg_settings where name = any($1) and setting = 'off'",
    [DURABILITY_SETTINGS],
  );
  return rows.map(({ name }) => name);
}
