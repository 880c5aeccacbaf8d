import { cp } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { migrate } from "#infra/postgres/migrate.ts";
import { hashTables } from "#infra/postgres/tables.ts";

/** Read models are not part of the backup: they are rebuilt from the log. */
const SCHEMAS = ["log", "ops"];

export interface Backup {
  /** Rows as JSON, by table. As in any dump, without transaction ids and physical order. */
  rows: Map<string, string>;
  /** Hashes of the read models' tables in the same snapshot. */
  hashes: Record<string, string>;
  position: number;
}

const findTables = (client: pg.Client) =>
  client.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any ($1) and c.relkind = 'r' order by 1`,
    [SCHEMAS],
  );

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** All rows in one snapshot, like `pg_dump --schema=log --schema=ops`. */
export const dump = (url: string): Promise<Backup> =>
  withClient(url, async (client) => {
    await client.query("begin isolation level repeatable read read only");
    const rows = new Map<string, string>();
    for (const { name } of (await findTables(client)).rows) {
      const found = await client.query<{ rows: string }>(
        `select coalesce(json_agg(t), '[]')::text as rows from ${name} t`,
      );
      rows.set(name, found.rows[0]!.rows);
    }
    const head = await client.query<{ position: string }>("select position from log.head");
    const hashes = await hashTables(client, "read");
    await client.query("commit");
    return { rows, hashes, position: Number(head.rows[0]!.position) };
  });

/** Restores the rows into an empty database, and removes the read models' checkpoints. */
export async function restore(url: string, { rows }: Backup): Promise<void> {
  await migrate(url);
  await withClient(url, async (client) => {
    await client.query("begin");
    for (const [name, json] of rows) {
      await client.query(`delete from ${name}`);
      await client.query(`insert into ${name} select * from json_populate_recordset(null::${name}, $1)`, [json]);
    }
    await client.query("delete from log.checkpoints where name not in ('reactions', 'feed', 'passages')");
    await client.query("commit");
  });
}

export const copyBlobs = (from: string, to: string): Promise<void> =>
  cp(join(from, "blobs"), join(to, "blobs"), { recursive: true });
