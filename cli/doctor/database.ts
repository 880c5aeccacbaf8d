import { readdir } from "node:fs/promises";
import { masterKey, MasterKeyError } from "#infra/masterKey.ts";
import type { Database } from "../connect.ts";
import { Problem } from "../problem.ts";

const MIGRATIONS = new URL("../../infra/postgres/migrations/", import.meta.url);
export async function serverVersion({ db }: Database): Promise<string> {
  const [row] = await db.query<{ version: string }>("select current_setting('server_version') as version");
  return row!.version;
}

export async function durable({ db }: Database): Promise<string> {
  const settings = ["fsync", "full_page_writes", "synchronous_commit"];
  const rows = await db.query<{ name: string }>(
    "select name from pg_settings where name = any($1) and setting = 'off'",
    [settings],
  );
  const off = rows.map((row) => row.name).join(", ");
  if (off) throw new Problem(`${off} off`, "switch it on: acknowledged work could be lost in a power cut");
  return settings.join(", ");
}

export async function migrated({ db }: Database): Promise<string> {
  const wanted = (await readdir(MIGRATIONS))
    .filter((name) => name.endsWith(".sql"))
    .map((name) => name.replace(/\.sql$/, ""));
  const done = new Set((await db.query<{ name: string }>("select name from svc_migrations")).map((row) => row.name));
  const missing = wanted.filter((name) => !done.has(name));
  if (missing.length > 0)
    throw new Problem(`${missing.join(", ")} missing`, "start the service of this version once: it migrates");
  return `${wanted.length} of ${wanted.length}`;
}

/** The head against the last event only; `svc log verify` looks at all. */
export async function headFitsLastEvent({ db }: Database): Promise<string> {
  const [row] = await db.query<{ head: number; last: number | null; same: boolean | null }>(
    `select h.position as head, e.position as last, e.hash = h.hash as same
     from log.head h left join (select position, hash from log.events order by position desc limit 1) e on true`,
  );
  const next = "run svc log verify, which names the place, and compare with a backup or an export";
  if (!row) throw new Problem("the log has no head row", next);
  if (row.last === null && row.head === 0) return "the log is empty";
  if (row.last !== row.head)
    throw new Problem(`the head stands at ${row.head}, the last event at ${row.last ?? 0}`, next);
  if (!row.same) throw new Problem(`the head's hash is not that of event ${row.last}`, next);
  return `position ${row.head}`;
}

export async function masterKeyOpens({ settings, db }: Database): Promise<string> {
  try {
    const { opens } = await masterKey(settings, db);
    return opens === undefined ? "nothing is sealed yet" : `opens event ${opens}`;
  } catch (error) {
    throw error instanceof MasterKeyError ? new Problem(error.what, error.next) : error;
  }
}
