import { expect, inject, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { migrate } from "#infra/postgres/migrate.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { afterFile } from "../cleanUp.ts";
import { testDataFolder } from "../harness.ts";
import { aStream, change } from "./log.ts";

/* On a server of its own: multixact ids belong to all databases of a server, and other tests may use some. */

test("appends of new and existing streams, one by one and many at once, use no multixact ids", async () => {
  const { nats_url: NATS_URL, meili_url: MEILI_URL, meili_master_key: MEILI_MASTER_KEY } = inject("services");
  const settings = { DATA_DIR: await testDataFolder(), NATS_URL, MEILI_URL, MEILI_MASTER_KEY };
  const servers = await startEmbeddedServers(settings, () => {});
  afterFile(servers.stop);
  await migrate(servers.database_url);
  const pool = openPool(servers.database_url, { max: 4, name: "test" });
  afterFile(() => pool.end());
  const log = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
  const next = async (): Promise<string> => {
    await pool.query("checkpoint");
    const { rows } = await pool.query<{ next: string }>(
      "select next_multixact_id::text as next from pg_control_checkpoint()",
    );
    return rows[0]!.next;
  };

  const before = await next();
  const stream = aStream();
  for (const version of [1, 2, 3]) await log.append(change(stream, { version }));
  const streams = Array.from({ length: 20 }, aStream);
  for (const version of [1, 2]) await Promise.all(streams.map((one) => log.append(change(one, { version }))));
  expect(await next()).toBe(before);
  const { rows } = await pool.query("select count(*)::integer as events from log.events");
  expect(rows[0].events).toBe(43);
});
