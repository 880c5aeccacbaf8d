import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { masterKey } from "#infra/masterKey.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { testDatabase, testFolder } from "#test/harness.ts";
import { eightEvents } from "./events.ts";
import { aCommandLine } from "./svc.ts";

const foreign = Buffer.alloc(32, 9).toString("base64");
let cli: Awaited<ReturnType<typeof aCommandLine>>;
let its: Awaited<ReturnType<typeof eightEvents>>;
beforeAll(async () => {
  cli = await aCommandLine();
  its = await eightEvents(cli.database.url, cli.key);
});
afterAll(() => its.pool.end());

const written = async () =>
  (await its.pool.query("select h.position, (select count(*) from ops.workers) as workers from log.head h")).rows[0];

test.each(["all", "http", "services", "projections", "projections rebuild --all", "log tail", "org create Other"])(
  "another master key than the log's is refused at once: svc %s",
  async (args) => {
    const before = await written();
    const { code, stdout, stderr } = await cli.svcWith({ MASTER_KEY: foreign }, ...args.split(" "));
    expect([code, stdout, await written()]).toEqual([1, "", before]);
    expect(stderr).toMatch(/^MASTER_KEY \(from the environment\) is not right, it does not open event 7: set .+\.\n$/);
  },
);

test("without its file no new key is made beside a log that is sealed, and a file with another one is named", async () => {
  const DATA_DIR = join(await testFolder(), "data");
  const path = join(DATA_DIR, "master.key");
  const sealed = asDb(its.pool);
  await expect(masterKey({ DATA_DIR }, sealed)).rejects.toThrow(`MASTER_KEY (from ${path}) is not right, there is no`);
  expect(existsSync(DATA_DIR)).toBe(false);
  const pool = openPool((await testDatabase()).url, { max: 1, name: "test" });
  const made = await masterKey({ DATA_DIR }, asDb(pool));
  await pool.end();
  expect(made).toEqual({ key: readFileSync(path, "utf8").trim(), opens: undefined });
  await expect(masterKey({ DATA_DIR }, sealed)).rejects.toThrow(`${path}) is not right, it does not open event 7`);
  expect(await masterKey({ DATA_DIR, MASTER_KEY: cli.key.toString("base64") }, sealed)).toMatchObject({ opens: 7 });
});

test("the key that the log began with is the one, also where a wrong one wrote later", async () => {
  const key = Buffer.alloc(32, 9);
  const later = await eightEvents(cli.database.url, key);
  await later.pool.end();
  const db = asDb(its.pool);
  await expect(masterKey({ DATA_DIR: "", MASTER_KEY: foreign }, db)).rejects.toThrow("does not open event 7");
  expect(await masterKey({ DATA_DIR: "", MASTER_KEY: cli.key.toString("base64") }, db)).toMatchObject({ opens: 7 });
});
