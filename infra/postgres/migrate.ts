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
  /** Names of the database's migrations. */
  applied: string[];
  /** This program's migrations that the database lacks. */
  missing: string[];
  /** The database's migrations that this program does not know, because a newer version applied them. */
  newer: string[];
  /** Those of `newer` that a program must know to use the database. */
  required: string[];
}

/** A newer version has changed the database in a way that this one does not understand. */
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
 * Makes a second process wait, because node-pg-migrate fails if another one has its lock. It polls for the lock, because building
 * an index concurrently waits for every running statement, including one that waits for a lock.
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
 * Migrates the `log` and `ops` schemas, and returns the names of the migrations it applied. Safe to call from several processes. A
 * user without ownership may call it on a migrated database. `upTo`: the last migration to apply. Throws DatabaseTooNew. Also
 * throws if the server's settings allow it to lose commits: with synchronous_commit off, a power cut lost 1,056 of 188,299
 * acknowledged rows.
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
