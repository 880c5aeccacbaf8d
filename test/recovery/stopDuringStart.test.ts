import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { readSettings } from "#infra/config.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { runRoles } from "../../roles/runRoles.ts";
import { afterTest } from "../cleanUp.ts";
import { testBus, testDatabase, testFolder, testSearch } from "../harness.ts";

/** A session that leads the projector and builds nothing. A session that executes a statement is not replaced. */
async function leadProjector(url: string): Promise<void> {
  const leader = new pg.Client({ connectionString: url });
  leader.on("error", () => {});
  await leader.connect();
  await leader.query("select pg_advisory_lock(hashtext('svc'), hashtext('projector'))");
  leader.query("select pg_sleep(300)").catch(() => {});
  afterTest(() => leader.end());
}

test("a process that waits for read models, which a leader of another version does not build, ends when it is asked to", async () => {
  const [{ url: database_url }, bus, search] = [await testDatabase(), testBus(), testSearch()];
  await leadProjector(database_url);
  const settings = readSettings({
    PORT: "0",
    DATA_DIR: await testFolder(),
    BUS_PREFIX: bus.prefix,
    LOG_LEVEL: "silent",
  });
  const addresses = {
    database_url,
    nats_url: bus.url,
    meili_url: search.url,
    meili_master_key: search.master_key,
    master_key: Buffer.alloc(32, 3).toString("base64"),
  };
  const pool = openPool(database_url, { max: 1, name: "looker" });
  afterTest(() => pool.end());
  const stopping = new AbortController();
  const starting = runRoles(["projections", "services"], { settings, addresses }, stopping.signal);
  await expect.poll(async () => (await pool.query("select from ops.workers")).rowCount).toBe(1);

  stopping.abort();
  const running = await Promise.race([starting, delay(10_000, undefined)]);
  expect(running).toBeDefined();
  await running!.stop();
  expect((await pool.query("select from ops.workers")).rowCount).toBe(0);
});
