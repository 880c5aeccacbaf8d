import type pg from "pg";
import { readTables } from "#infra/postgres/tables.ts";
import type { Db } from "#projections/projection.ts";

/** Every table in which the text stands, also as base64 or hex. */
export async function tablesWith(db: Db, text: string): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    "select table_schema || '.' || table_name as name from information_schema.tables where table_schema in ('log', 'read', 'ops') and table_type = 'BASE TABLE'",
    [],
  );
  const forms = [text, Buffer.from(text).toString("base64").replace(/=+$/, ""), Buffer.from(text).toString("hex")];
  const found = tables.map(async ({ name }) => {
    const rows = await db.query(`select 1 from ${name} t where t::text like any ($1) limit 1`, [
      forms.map((form) => `%${form}%`),
    ]);
    return rows.length > 0 ? [name] : [];
  });
  return (await Promise.all(found)).flat();
}

/** A hash over all rows of each table of the read models, in key order. Equal models have equal hashes. */
export async function hashReadModels(client: pg.ClientBase): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const [table, { key }] of await readTables(client, "read")) {
    const { rows } = await client.query<{ hash: string }>(
      `select coalesce(md5(string_agg(t::text, E'\\n' order by ${key.join(", ")})), '') as hash from read.${table} t`,
    );
    hashes[table] = rows[0]!.hash;
  }
  return hashes;
}
