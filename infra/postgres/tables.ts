import { readFile } from "node:fs/promises";
import type pg from "pg";
import type { Projection } from "#projections/projection.ts";

/** A table's columns, as needed for writing. */
export interface TableShape {
  key: string[];
  /** PostgreSQL type by column, in the order of the table. */
  columns: Map<string, string>;
}

const COLUMNS = `
  select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
         coalesce(a.attnum = any (i.indkey), false) as in_key
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where n.nspname = $1 and c.relkind = 'r'
  order by c.relname, a.attnum`;

/** The tables of a schema, by name. */
export async function readTables(client: pg.ClientBase, schema: string): Promise<Map<string, TableShape>> {
  const { rows } = await client.query<{ table: string; column: string; type: string; in_key: boolean }>(COLUMNS, [
    schema,
  ]);
  const tables = new Map<string, TableShape>();
  for (const row of rows) {
    let table = tables.get(row.table);
    if (!table) tables.set(row.table, (table = { key: [], columns: new Map() }));
    table.columns.set(row.column, row.type);
    if (row.in_key) table.key.push(row.column);
  }
  return tables;
}

/** Creates a projection's tables in a new schema, with row-level security. Each table's comment is the projection's name. */
export async function createTables(client: pg.ClientBase, projection: Projection, schema: string): Promise<void> {
  const sql = await readFile(projection.tables, "utf8");
  await client.query(
    `begin; drop schema if exists ${schema} cascade; create schema ${schema}; set local search_path to ${schema}`,
  );
  await client.query(sql);
  for (const table of (await readTables(client, schema)).keys()) {
    await client.query(`comment on table ${schema}.${table} is '${projection.name}'`);
    await client.query("select ops.protect_table($1)", [`${schema}.${table}`]);
  }
  await client.query("commit");
}

/** Names of a projection's tables in `read`. */
export async function servingTables(client: pg.ClientBase, projection: string): Promise<string[]> {
  const { rows } = await client.query<{ table: string }>(
    `select c.relname as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'read' and c.relkind = 'r' and obj_description(c.oid, 'pg_class') = $1 order by 1`,
    [projection],
  );
  return rows.map((row) => row.table);
}
