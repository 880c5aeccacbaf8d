import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { watchAppends } from "#infra/postgres/appendWatch.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { testDatabase } from "../harness.ts";
import { aStream, change } from "./log.ts";
import { letRefuse } from "./refusing.ts";

const PROBE_MS = 50;
const SLOW_MS = 200;

async function openWatched() {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: 4, name: "watched" });
  const appends = watchAppends(pool, pino({ level: "silent" }), { probe_ms: PROBE_MS, slow_ms: SLOW_MS });
  onTestFinished(async () => {
    appends.stop();
    await pool.end();
  });
  return { pool, appends, log: openLog(pool, openKeyring(Buffer.alloc(32, 7)), appends.listener) };
}

test("while PostgreSQL refuses appends the watch reports why, and detects by itself that it accepts them again", async () => {
  const { pool, appends, log } = await openWatched();
  await log.append(change(aStream()));
  expect(appends.problem()).toBeUndefined();

  const { takeAgain } = await letRefuse(pool, "53100");
  await expect(log.append(change(aStream()))).rejects.toThrow("The disk of the database is full.");
  await new Promise((resolve) => setTimeout(resolve, 5 * PROBE_MS));
  expect(appends.problem()).toBe("The disk of the database is full.");

  await takeAgain();
  await expect.poll(appends.problem).toBeUndefined();
  const { rows } = await pool.query("select count(*)::integer as n from log.commands");
  expect(rows).toEqual([{ n: 1 }]);
});

test("the next successful append ends the refusal as well", async () => {
  const { pool, appends, log } = await openWatched();
  const { takeAgain } = await letRefuse(pool, "25006");
  await expect(log.append(change(aStream()))).rejects.toThrow("The database is read-only.");
  await takeAgain();
  await log.append(change(aStream()));
  expect(appends.problem()).toBeUndefined();
});

test("a probe that needs a new page of the table proves that there is space", async () => {
  const { pool, appends, log } = await openWatched();
  await log.append(change(aStream()));
  const size = async () =>
    (await pool.query<{ size: number }>("select pg_total_relation_size('log.commands') as size")).rows[0]!.size;
  const { takeAgain } = await letRefuse(pool, "53100");
  await expect(log.append(change(aStream()))).rejects.toThrow();
  const before = await size();
  await takeAgain();
  await expect.poll(appends.problem).toBeUndefined();
  expect(await size()).toBeGreaterThan(before);
});

test("an append that is refused for its content is no fault of the store", async () => {
  const { pool, appends, log } = await openWatched();
  await letRefuse(pool, "23514");
  await expect(log.append(change(aStream()))).rejects.toThrow();
  expect(appends.problem()).toBeUndefined();
});

test("an append that hangs is a problem until it ends, and until another write ends in time", async () => {
  const { pool, appends, log } = await openWatched();
  await log.append(change(aStream()));
  const other = await pool.connect();
  await other.query("begin");
  await other.query("lock table log.commands in exclusive mode");
  const waiting = log.append(change(aStream()));
  await expect.poll(appends.problem).toBe("PostgreSQL has not finished one within 0.2 s.");
  await other.query("rollback");
  other.release();
  await waiting;
  await expect.poll(appends.problem).toBeUndefined();
});
