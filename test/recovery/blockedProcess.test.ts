import pg from "pg";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { openPool } from "#infra/postgres/pool.ts";
import { watchReach } from "#infra/postgres/reach.ts";
import { afterTest } from "#test/cleanUp.ts";
import { testDatabase } from "#test/harness.ts";

const BLOCKED_MS = 2_000;
const COUNT = 2;

/** Holds the event loop, as a large body or the garbage collector does. */
function block(): void {
  for (const until = performance.now() + BLOCKED_MS; performance.now() < until; );
}

test("a process whose event loop is blocked during a query does not consider the database unreachable", async () => {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: 2, name: "blocked" });
  afterTest(() => pool.end());
  const { query } = pg.Client.prototype;
  let looks = 0;
  const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if ((args[0] as { name?: string }).name === "look" && ++looks <= COUNT) process.nextTick(block);
    return (query as (...all: unknown[]) => Promise<pg.QueryResult>).apply(this, args);
  } as never);
  afterTest(() => spy.mockRestore());

  const reach = watchReach({ pool, url, name: "blocked", logger: pino({ level: "silent" }), onReplaced() {} });
  afterTest(() => reach.stop());
  const changes: boolean[] = [];
  reach.onChange((isReachable) => changes.push(isReachable));
  await expect.poll(() => looks).toBeGreaterThan(COUNT + 1);
  expect([reach.isReachable(), changes]).toEqual([true, []]);
});
