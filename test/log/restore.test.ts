import { expect, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { verifyLog } from "#infra/postgres/verify.ts";
import { testDatabase } from "#test/harness.ts";
import { openTestLog, aStream, change, named } from "./log.ts";

const TABLES = ["head", "events", "commands", "streams", "keys", "checkpoints"];

/** The contents of a dump: rows, without transaction ids, sequences or physical order. */
async function copyRows(from: string, to: string): Promise<void> {
  const [source, target] = [openPool(from, { max: 1, name: "dump" }), openPool(to, { max: 1, name: "restore" })];
  await target.query("delete from log.head");
  for (const table of TABLES) {
    const { rows } = await source.query(`select coalesce(json_agg(t), '[]')::text as rows from log.${table} t`);
    await target.query(`insert into log.${table} select * from json_populate_recordset(null::log.${table}, $1)`, [
      rows[0].rows,
    ]);
  }
  await Promise.all([source.end(), target.end()]);
}

test("after a restore into a new server, followers resume at their positions and the hash chain continues", async () => {
  const testLog = await openTestLog();
  const first = named("before");
  for (let n = 0; n < 30; n++) await testLog.log.append(change(aStream()));
  await testLog.log.append(change(first.stream, first));
  const checkpoint = 20;

  const { url } = await testDatabase();
  await copyRows(testLog.url, url);
  const pool = openPool(url, { max: 4, name: "test" });
  const log = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
  const followed = await log.follow(checkpoint, 100);
  expect(followed.map((event) => event.position)).toEqual(Array.from({ length: 11 }, (_, n) => checkpoint + n + 1));
  expect(followed.at(-1)?.personal).toEqual({ name: "before" });

  const next = await log.append(change(first.stream, { version: 2 }));
  expect(next).toMatchObject({ kind: "committed", first: 32 });
  expect(await verifyLog(asDb(pool), () => {})).toMatchObject({ position: 32 });
  await Promise.all([pool.end(), testLog.close()]);
});
