import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import type pg from "pg";
import { findUnsafeSettings } from "./durability.ts";
import { withToolClient } from "./toolClient.ts";

const FOLDER = fileURLToPath(new URL("migrations", import.meta.url));
const TABLE = "svc_migrations";

export interface Migrations {
  /** Names of this program's migrations. */
  all: string[];
  /** Names of those of the database. */
  applied: string[];
  /** Those that the database lacks. */
  missing: string[];
  /** Migrations of the database that this program lacks. A newer version applied them. */
  newer: string[];
  /** Those of them without which a program may not use the database. */
  required: string[];
}

/** The database was changed by a newer version in a way that this one does not understand. */
export class DatabaseTooNew extends Error {
  readonly what: string;
  readonly next = "start the version that migrated it or a newer one, or restore the backup from before";

  constructor(required: string[]) {
    const what = `The database needs a newer version of this program, one with the migration ${required.join(", ")}`;
    super(what);
    this.what = what;
    this.message = `${what}: ${this.next}.`;
  }
}

const readNames = async (db: Pick<pg.ClientBase, "query">, table: string): Promise<string[]> => {
  const { rows: tables } = await db.query("select where to_regclass($1) is not null", [table]);
  if (tables.length === 0) return [];
  return (await db.query<{ name: string }>(`select name from ${table} order by name`)).rows.map(({ name }) => name);
};

/** Names of this program's migrations, in order. */
const listMigrations = async (): Promise<string[]> =>
  (await readdir(FOLDER)).map((file) => file.replace(/\.(sql|ts)$/, "")).toSorted();

/** Compares the migrations of the database with those of this program. */
export async function findMigrations(db: Pick<pg.ClientBase, "query">): Promise<Migrations> {
  const all = await listMigrations();
  const isNewer = (name: string) => !all.includes(name);
  const applied = await readNames(db, TABLE);
  return {
    all,
    applied,
    missing: all.filter((name) => !applied.includes(name)),
    newer: applied.filter(isNewer),
    required: (await readNames(db, "ops.required_migrations")).filter(isNewer),
  };
}

const LOCK_RETRY_MS = 100;

/**
 * Makes a second process wait: node-pg-migrate fails when another one has its own lock. It asks again and again, because an index that
 * is built beside other work waits for every statement that runs, and so for one that waits here.
 */
async function waitForLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtext('svc migrate')) as taken",
    );
    if (rows[0]!.taken) return;
    await sleep(LOCK_RETRY_MS);
  }
}

async function applyMissing(client: pg.Client, count: number): Promise<void> {
  const owned = `select pg_has_role(relowner, 'usage') as owned from pg_class where oid = to_regclass('${TABLE}')`;
  const { rows } = await client.query<{ owned: boolean }>(owned);
  if (rows[0]?.owned === false)
    throw new Error(
      "The user of DATABASE_URL may not migrate the database: run `svc migrate` as the owner of the tables, then start again",
    );
  await waitForLock(client);
  await runner({
    dbClient: client,
    dir: FOLDER,
    direction: "up",
    count,
    migrationsTable: TABLE,
    checkOrder: true,
    log: () => {},
  });
}

/**
 * Migrates the `log` and `ops` schemas, and answers with the names of the migrations that were missing. Several processes may
 * call it concurrently. A user who owns nothing may call it on a migrated database. `upTo`: applies none after this one.
 * Throws DatabaseTooNew. Also throws when the server's settings allow it to lose commits: with synchronous_commit off, a power cut lost 1,056 of
 * 188,299 acknowledged rows.
 */
export const migrate = (databaseUrl: string, { upTo }: { upTo?: string } = {}): Promise<string[]> =>
  withToolClient(databaseUrl, "svc migrate", async (client) => {
    const off = await findUnsafeSettings(client);
    if (off.length > 0)
      throw new Error(`PostgreSQL runs with ${off.join(", ")} off and could lose acknowledged work: switch it on`);
    const { missing: all, required } = await findMigrations(client);
    const missing = all.filter((name) => upTo === undefined || name <= upTo);
    if (required.length > 0) throw new DatabaseTooNew(required);
    if (missing.length > 0) await applyMissing(client, missing.length);
    return missing;
  });
