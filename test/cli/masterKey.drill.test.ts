import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadMasterKey } from "#infra/masterKey.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { testDatabase, testFolder } from "#test/harness.ts";
import { appendEightEvents, openWithEightEvents } from "./events.ts";

const foreign = Buffer.alloc(32, 9).toString("base64");
const { cli, its } = await openWithEightEvents();

const readState = async () =>
  (await its.pool.query("select h.position, (select count(*) from ops.workers) as workers from log.head h")).rows[0];

test.each(["all", "http", "services", "projections", "projections rebuild --all", "log tail", "org create Other"])(
  "svc %s refuses a wrong master key before it writes anything",
  async (args) => {
    const before = await readState();
    const { code, stdout, stderr } = await cli.svcWith({ MASTER_KEY: foreign }, ...args.split(" "));
    expect([code, stdout, await readState()]).toEqual([1, "", before]);
    expect(stderr).toMatch(/^MASTER_KEY \(from the environment\) is wrong, it does not open event 7: set .+\.\n$/);
  },
);

test("a master key file is created only for a log without sealed events, and a wrong file is named", async () => {
  const DATA_DIR = join(await testFolder(), "data");
  const path = join(DATA_DIR, "master.key");
  const sealed = asDb(its.pool);
  await expect(loadMasterKey({ DATA_DIR }, sealed)).rejects.toThrow(
    `MASTER_KEY (from ${path}) is wrong, the file does not exist`,
  );
  expect(existsSync(DATA_DIR)).toBe(false);
  const pool = openPool((await testDatabase()).url, { max: 1, name: "test" });
  const created = await loadMasterKey({ DATA_DIR }, asDb(pool));
  await pool.end();
  expect(created).toEqual({ key: readFileSync(path, "utf8").trim(), opens: undefined });
  await expect(loadMasterKey({ DATA_DIR }, sealed)).rejects.toThrow(`${path}) is wrong, it does not open event 7`);
  expect(await loadMasterKey({ DATA_DIR, MASTER_KEY: cli.key.toString("base64") }, sealed)).toMatchObject({ opens: 7 });
});

test("the correct master key is the one that the log began with, even if another key wrote later events", async () => {
  const key = Buffer.alloc(32, 9);
  await appendEightEvents(cli.database.url, key);
  const db = asDb(its.pool);
  await expect(loadMasterKey({ DATA_DIR: "", MASTER_KEY: foreign }, db)).rejects.toThrow("does not open event 7");
  expect(await loadMasterKey({ DATA_DIR: "", MASTER_KEY: cli.key.toString("base64") }, db)).toMatchObject({ opens: 7 });
});
