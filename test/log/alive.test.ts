import { expect, test } from "vitest";
import { openPool } from "#infra/postgres/pool.ts";
import { aLog } from "./log.ts";

test("a process lives while it beats and its connections stand, and is gone at once when they are", async () => {
  const its = await aLog();
  const beat = (worker: string, ago: string) =>
    its.db.query("insert into ops.workers (worker, role, beat_at) values ($1, 'http', now() - $2::interval)", [
      worker,
      ago,
    ]);
  const pools = ["alive", "silent", "killed"].map((name) => openPool(its.url, { max: 1, name }));
  await Promise.all(pools.map((pool) => pool.query("select 1")));
  await beat("alive", "1 second");
  await beat("silent", "11 seconds");
  await beat("killed", "1 second");
  expect(await Promise.all(["alive", "silent", "killed", "unknown"].map(its.log.alive))).toEqual([
    true,
    false,
    true,
    false,
  ]);

  await pools[2]!.end();
  // A server of less than 10 s says of nobody that the connections are gone: it may not have seen them yet.
  await expect.poll(() => its.log.alive("killed"), { timeout: 20_000 }).toBe(false);
  await Promise.all([pools[0]!.end(), pools[1]!.end(), its.close()]);
});
