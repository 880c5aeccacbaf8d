import type { Settings } from "#infra/config.ts";
import { loadMasterKey, MasterKeyError } from "#infra/masterKey.ts";
import { SLOW_MS, tryAppend } from "#infra/postgres/appendWatch.ts";
import { measureClock } from "#infra/postgres/clock.ts";
import { DURABILITY_SETTINGS, findUnsafeSettings } from "#infra/postgres/durability.ts";
import { DatabaseTooNew, findMigrations } from "#infra/postgres/migrate.ts";
import type { Db } from "#projections/projection.ts";
import type { Database } from "../connect.ts";
import { CliError } from "../cliError.ts";
import { explainError } from "../explainError.ts";

export async function readServerVersion({ db }: Database): Promise<string> {
  const [row] = await db.query<{ version: string }>("select current_setting('server_version') as version");
  return row!.version;
}

export async function checkDurability({ pool }: Database): Promise<string> {
  const off = (await findUnsafeSettings(pool)).join(", ");
  if (off) throw new CliError(`${off} off`, "switch it on: acknowledged work could be lost in a power cut");
  return DURABILITY_SETTINGS.join(", ");
}

export async function checkMigrations({ pool }: Database): Promise<string> {
  const { all, missing, newer, required } = await findMigrations(pool);
  if (required.length > 0) {
    const { what, next } = new DatabaseTooNew(required);
    throw new CliError(what, next);
  }
  if (missing.length > 0)
    throw new CliError(
      `${missing.join(", ")} missing`,
      "start this version of the service once, or run svc migrate as the owner of the tables",
    );
  const more = newer.length > 0 ? `, and ${newer.join(", ")} of a newer version` : "";
  return `${all.length} of ${all.length}${more}`;
}

/** Compares only the head with the last event; `svc log verify` checks every event. */
export async function checkHead({ db }: Database): Promise<string> {
  const [row] = await db.query<{ head: number; last: number | null; same: boolean | null }>(
    `select h.position as head, e.position as last, e.hash = h.hash as same
     from log.head h left join (select position, hash from log.events order by position desc limit 1) e on true`,
  );
  const next = "run svc log verify, which finds the damaged position, and compare with a backup or an export";
  if (!row) throw new CliError("the log has no head row", next);
  if (row.last === null && row.head === 0) return "the log is empty";
  if (row.last !== row.head) throw new CliError(`the head is at ${row.head}, the last event at ${row.last ?? 0}`, next);
  if (!row.same) throw new CliError(`the head has another hash than event ${row.last}`, next);
  return `position ${row.head}`;
}

export async function checkMasterKey({ settings, db }: Database): Promise<string> {
  try {
    const { opens } = await loadMasterKey(settings, db);
    return opens === undefined ? "nothing is sealed yet" : `opens event ${opens}`;
  } catch (error) {
    throw error instanceof MasterKeyError ? new CliError(error.what, error.next) : error;
  }
}

/** The clock of this machine only. Processes on other machines report theirs in their log and in /readyz. */
export async function checkClock(
  { settings, db }: { settings: Pick<Settings, "CLOCK_OFFSET_SECONDS">; db: Db },
  own?: () => number,
): Promise<string> {
  const { offset_ms, error_ms } = await measureClock(db, own);
  const { CLOCK_OFFSET_SECONDS: max } = settings;
  const [size_ms, side] = [Math.abs(offset_ms), offset_ms > 0 ? "ahead of" : "behind"];
  if (size_ms - error_ms <= max * 1_000) return `${size_ms} ms ${side} the database's`;
  throw new CliError(
    `the clock of this machine is ${(size_ms / 1_000).toFixed(1)} s ${side} the database's`,
    `correct the time of the machine that is wrong (NTP): a process that is more than ${max} s off takes no work`,
  );
}

/** Time after which the doctor gives up a write. */
const APPEND_MS = 5_000;

/** Whether the log takes a write now; it is taken back. */
export async function checkAppends(db: Db): Promise<string> {
  const began = performance.now();
  try {
    await tryAppend(db, APPEND_MS);
  } catch (error) {
    throw new CliError(
      `a write failed: ${explainError(error).replace(/\.$/, "")}`,
      "make space on PostgreSQL's disk, or point DATABASE_URL at the primary; until then no change is accepted",
    );
  }
  const took_ms = Math.round(performance.now() - began);
  if (took_ms <= SLOW_MS) return `a write takes ${took_ms} ms`;
  throw new CliError(
    `a write took ${(took_ms / 1_000).toFixed(1)} s`,
    "find out what slows PostgreSQL's disk down or locks its tables (pg_stat_activity)",
  );
}
