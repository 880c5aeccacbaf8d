import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import pg from "pg";

const DURABLE = ["fsync", "full_page_writes", "synchronous_commit"];

/**
 * Brings the `log` and `ops` schemas up to date; several processes may call it at once.
 * Throws when the server may lose what it has committed: an acknowledged write must be kept (a server with
 * synchronous_commit off lost 1,056 of 188,299 rows in a power cut).
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "svc migrate" });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      "select name, setting from pg_settings where name = any($1)",
      [DURABLE],
    );
    const off = rows.filter((row) => row.setting === "off").map((row) => row.name);
    if (off.length > 0)
      throw new Error(`PostgreSQL runs with ${off.join(", ")} off and could lose acknowledged work; switch it on`);
    // node-pg-migrate tries its advisory lock once; waiting for it here lets a second process simply come later.
    await client.query("select pg_advisory_lock(hashtext('svc migrate'))");
    await runner({
      dbClient: client,
      dir: fileURLToPath(new URL("migrations", import.meta.url)),
      direction: "up",
      migrationsTable: "svc_migrations",
      checkOrder: true,
      log: () => {},
    });
  } finally {
    await client.end();
  }
}
