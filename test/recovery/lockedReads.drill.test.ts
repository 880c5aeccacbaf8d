import pg from "pg";
import { expect, test } from "vitest";
import { afterTest } from "../cleanUp.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/** The promise of docs/reliability.md. */
const PROMISED_SECONDS = 5;
/** More than a pool has connections. */
const READERS = 40;
const CONNECTIONS = 12;

async function startLocked() {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment });
  const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, (await platform.organization()).api_key);
  const other = new pg.Client({ connectionString: deployment.addresses.database_url });
  await other.connect();
  afterTest(() => other.end());
  /** An answer, and the seconds that it took. */
  async function read(path: string) {
    const began = performance.now();
    const { status, headers } = await call("GET", path);
    return { status, retry_after: headers.get("retry-after"), seconds: (performance.now() - began) / 1_000 };
  }
  return { platform, other, read };
}

test("reads that wait for a lock of another session are a 503 within 5 s, and block neither connections nor other reads", async () => {
  const { platform, other, read } = await startLocked();
  expect(await read("/files")).toMatchObject({ status: 200 });
  await other.query("begin; lock table read.files in access exclusive mode");

  const locked = Array.from({ length: READERS }, () => read("/files"));
  // they have taken all connections by now
  await expect.poll(() => platform.resources.pool.waitingCount).toBeGreaterThan(0);
  const besides = await Promise.all(Array.from({ length: 10 }, () => read("/models")));
  for (const { status, seconds } of besides) {
    expect(status).toBe(200);
    expect(seconds).toBeLessThan(PROMISED_SECONDS);
  }
  for (const { status, retry_after, seconds } of await Promise.all(locked)) {
    expect([status, retry_after]).toEqual([503, "2"]);
    expect(seconds).toBeLessThan(PROMISED_SECONDS);
  }
  const waiting = async () => {
    const { rows } = await other.query<{ n: number }>(
      "select count(*)::integer as n from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())",
    );
    return rows[0]!.n;
  };
  // the server notices that their connections are closed
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
  expect(platform.resources.pool.totalCount).toBeLessThanOrEqual(CONNECTIONS);

  await other.query("rollback");
  expect(await read("/files")).toMatchObject({ status: 200 });
});
