import pg from "pg";
import type { Db } from "#projections/projection.ts";
import { asUnavailable } from "./errors.ts";
import { limitQueryTime, findQueryDeadline } from "./queryDeadline.ts";

const INT8 = 20;

/** Parses bigint as a number: positions stay far below 2^53. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new Error(`PostgreSQL sent the bigint ${text}, which is too large for a number`);
  return value;
}

/** bigint is a number. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === INT8 && format !== ("binary" as string) ? parseInt8 : pg.types.getTypeParser(oid, format)) as never,
};

/**
 * Without jit=off, a server with LLVM compiles log.append for 1 to 2 s per call until its tables have statistics. Every prepared
 * statement keeps one plan: with `= any ($1)` PostgreSQL would plan again in each call, which took longer than the call. A plan
 * made while its table had a single page would, without enable_seqscan=off, read the whole table however large it has become. The
 * other settings end the session of a client that vanished, so that it keeps no lock. The server notices after 11 s that its
 * packets are not confirmed, and after 2 s that the client closed its connection, also while a query waits.
 */
const SESSION = [
  "jit=off",
  "enable_seqscan=off",
  "plan_cache_mode=force_generic_plan",
  "tcp_keepalives_idle=5",
  "tcp_keepalives_interval=2",
  "tcp_keepalives_count=3",
  "tcp_user_timeout=11000",
  "client_connection_check_interval=2000",
  "idle_in_transaction_session_timeout=60000",
  "lock_timeout=60000",
  "statement_timeout=900000",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

/** A pool of at most `max` connections; `name` shows in pg_stat_activity. */
export function openPool(databaseUrl: string, options: { max: number; name: string }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max,
    application_name: options.name,
    options: SESSION,
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types,
  });
  // The pool replaces an idle connection that breaks. Without a listener, its error would end the process.
  pool.on("error", () => {});
  return pool;
}

/** Names of prepared statements by text. Shared, because users of a pool share its connections. */
const names = new Map<string, string>();

/** Runs queries as prepared statements. Throws Unavailable while the database is unreachable, or when the time of `withQueryDeadline` is over. */
export function asDb(pool: Pick<pg.Pool, "query">): Db {
  const queryBy = pool instanceof pg.Pool ? limitQueryTime(pool) : undefined;
  return {
    async query<R>(text: string, values: unknown[] = []) {
      let name = names.get(text);
      if (!name) names.set(text, (name = `q${names.size}`));
      try {
        const deadline = findQueryDeadline();
        const query = { name, text, values };
        const run = deadline !== undefined && queryBy ? queryBy(query, deadline) : pool.query(query);
        return (await run).rows as R[];
      } catch (error) {
        throw asUnavailable(error);
      }
    },
  };
}
