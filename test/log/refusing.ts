import type pg from "pg";

const TRIGGER = "create trigger refuse before insert on log.commands for each statement execute function log.refuse()";

/** PostgreSQL answers queries, and refuses each append with an error code, as with 53100 when its disk is full. */
export async function letRefuse(pool: Pick<pg.Pool, "query">, code: string): Promise<{ takeAgain(): Promise<void> }> {
  await pool.query(`create or replace function log.refuse() returns trigger language plpgsql
    as $$ begin raise exception 'no append' using errcode = '${code}'; end $$`);
  await pool.query(TRIGGER);
  return { takeAgain: async () => void (await pool.query("drop trigger refuse on log.commands")) };
}
