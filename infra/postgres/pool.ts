import pg from "pg";
import type { Db } from "#projections/projection.ts";
import { unavailable } from "./trouble.ts";

const INT8 = 20;

/** bigint as a number: positions stay far below 2^53, and anything above is a fault to be heard of. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`PostgreSQL sent ${text}, which is no safe integer`);
  return value;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === INT8 && format !== ("binary" as string) ? parseInt8 : pg.types.getTypeParser(oid, format)) as never,
};

/** A pool of at most `max` connections; `name` shows in pg_stat_activity. */
export function openPool(databaseUrl: string, options: { max: number; name: string }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max,
    application_name: options.name,
    // where the server has LLVM, compiling log.append takes 1 to 2 s a call until its tables have statistics
    options: "-c jit=off",
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types,
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}

/** Names of prepared statements, by text; one list, because connections are shared between users of a pool. */
const names = new Map<string, string>();

/** Queries as prepared statements. Throws Unavailable while the database cannot be asked. */
export function asDb(pool: Pick<pg.Pool, "query">): Db {
  return {
    async query<R>(text: string, values: unknown[] = []) {
      let name = names.get(text);
      if (!name) names.set(text, (name = `q${names.size}`));
      try {
        return (await pool.query({ name, text, values })).rows as R[];
      } catch (error) {
        throw unavailable(error);
      }
    },
  };
}
