import { expect, test } from "vitest";
import { openPool } from "#infra/postgres/pool.ts";
import { openTestLog } from "./log.ts";

test("a process is alive while both its heartbeats and its connections last", async () => {
  const testLog = await openTestLog();
  const beat = (worker: string, ago: string) =>
    testLog.db.query("insert into ops.workers (worker, role, beat_at) values ($1, 'http', now() - $2::interval)", [
      worker,
      ago,
    ]);
  const pools = ["alive", "silent", "killed"].map((name) => openPool(testLog.url, { max: 1, name }));
  await Promise.all(pools.map((pool) => pool.query("select 1")));
  await beat("alive", "1 second");
  await beat("silent", "11 seconds");
  await beat("killed", "1 second");
  expect(await Promise.all(["alive", "silent", "killed", "unknown"].map(testLog.log.isAlive))).toEqual([
    true,
    false,
    true,
    false,
  ]);

  await pools[2]!.end();
  // A database server that started less than 10 s ago counts connections as open: it may not have seen them yet.
  await expect.poll(() => testLog.log.isAlive("killed")).toBe(false);
  await Promise.all([pools[0]!.end(), pools[1]!.end(), testLog.close()]);
});
