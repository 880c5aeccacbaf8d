import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { runAsLeader } from "#infra/postgres/leader.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { testDatabase } from "#test/harness.ts";
import { SOON } from "#test/soon.ts";

test("one of several processes leads, another takes over if it stops or loses its connection, and a standby holds no connection", async () => {
  const { url } = await testDatabase();
  const looker = openPool(url, { max: 1, name: "looker" });
  const working: string[] = [];
  let terms = 0;
  const contenders = ["a", "b", "c"].map((name) => {
    const pool = openPool(url, { max: 2, name });
    const work = async (signal: AbortSignal) => {
      terms += 1;
      working.push(name);
      // a contender that is stopped while it takes the lock starts with an aborted signal
      if (!signal.aborted) await once(signal, "abort");
      working.splice(working.indexOf(name), 1);
    };
    const leading = runAsLeader(pool, "test", work, () => {});
    return { name, pool, stop: async () => (await leading.stop(), await pool.end()) };
  });
  /** The contenders that lead, once so many have started to. */
  const worker = async (term: number): Promise<string> => {
    await expect.poll(() => [terms, working.length], SOON).toEqual([term, 1]);
    return working[0]!;
  };
  const first = await worker(1);
  // only of this database: others on the same server have their own leaders
  const holders = `select application_name as name from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  expect((await looker.query(holders)).rows).toEqual([{ name: first }]);
  for (const { name, pool } of contenders)
    await expect.poll(() => pool.totalCount - pool.idleCount, SOON).toBe(name === first ? 1 : 0);

  await looker.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", [first]);
  const second = await worker(2);
  expect((await looker.query(`${holders} and granted`)).rows).toEqual([{ name: second }]);

  await contenders.find(({ name }) => name === second)!.stop();
  expect(await worker(3)).not.toBe(second);
  await Promise.all(contenders.filter(({ name }) => name !== second).map(({ stop }) => stop()));
  expect(working).toEqual([]);
  await looker.end();
});

/** A failed transaction during a heartbeat, and then a statement that takes longer than a leader may be silent. */
async function keepBusy(client: pg.PoolClient): Promise<void> {
  await client.query("begin");
  await client.query("select 1 / 0").catch(() => {});
  await sleep(2_500);
  await client.query("rollback");
  await client.query("select pg_sleep(5)");
}

test("a leader without heartbeats for 3 s is replaced, and a busy one with heartbeats is not", async () => {
  const { url } = await testDatabase();
  const hung = new pg.Client({ connectionString: url });
  hung.on("error", () => {});
  const ended = new Promise<void>((resolve) => hung.once("end", resolve));
  await hung.connect();
  await hung.query("select pg_advisory_lock(hashtext('svc'), hashtext('hung'))");
  const pool = openPool(url, { max: 6, name: "contenders" });
  const terms: string[] = [];
  const leading = ["hung", "busy", "busy"].map((name) =>
    runAsLeader(
      pool,
      name,
      async (signal, client) => {
        terms.push(name);
        if (name === "busy") await keepBusy(client);
        if (name === "busy" && !signal.aborted) terms.push("still busy");
        await once(signal, "abort");
      },
      () => {},
    ),
  );
  await expect.poll(() => terms).toEqual(["busy", "hung", "still busy"]);
  await ended;
  await Promise.all(leading.map((one) => one.stop()));
  await pool.end();
});
