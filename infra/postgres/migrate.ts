import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import pg from "pg";
import { findUnsafeSettings } from "./durability.ts";

const FOLDER = fileURLToPath(new URL("migrations", import.meta.url));
const TABLE = "svc_migrations";

/** Names of all migrations, and of those that the database lacks. */
export async function findMigrations(db: Pick<pg.ClientBase, "query">): Promise<{ all: string[]; missing: string[] }> {
  const all = (await readdir(FOLDER)).map((file) => file.replace(/\.sql$/, "")).toSorted();
  const { rows: tables } = await db.query(`select where to_regclass('${TABLE}') is not null`);
  if (tables.length === 0) return { all, missing: all };
  const { rows } = await db.query<{ name: string }>(`select name from ${TABLE}`);
  const applied = new Set(rows.map(({ name }) => name));
  return { all, missing: all.filter((name) => !applied.has(name)) };
}

async function applyMissing(client: pg.Client): Promise<void> {
  const owned = `select pg_has_role(relowner, 'usage') as owned from pg_class where oid = to_regclass('${TABLE}')`;
  const { rows } = await client.query<{ owned: boolean }>(owned);
  if (rows[0]?.owned === false)
    throw new Error(
      "The user of DATABASE_URL may not migrate the database: run `svc migrate` as the owner of the tables, then start again",
    );
  // node-pg-migrate fails when another process has its own lock; this one makes a second process wait.
  await client.query("select pg_advisory_lock(hashtext('svc migrate'))");
  await runner({
    dbClient: client,
    dir: FOLDER,
    direction: "up",
    migrationsTable: TABLE,
    checkOrder: true,
    log: () => {},
  });
}

/**
 * Migrates the `log` and `ops` schemas, and answers with the names of the migrations that were missing. Several processes may
 * call it concurrently. A user who owns nothing may call it on a migrated database.
 * Throws when the server's settings allow it to lose commits: with synchronous_commit off, a power cut lost 1,056 of
 * 188,299 acknowledged rows.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "svc migrate" });
  await client.connect();
  try {
    const off = await findUnsafeSettings(client);
    if (off.length > 0)
      throw new Error(`PostgreSQL runs with ${off.join(", ")} off and could lose acknowledged work: switch it on`);
    const { missing } = await findMigrations(client);
    if (missing.length > 0) await applyMissing(client);
    return missing;
  } finally {
    await client.end();
  }
}
