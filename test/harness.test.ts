import { existsSync } from "node:fs";
import pg from "pg";
import { expect, test } from "vitest";
import { testBus, testDatabase, testFolder, testSearch } from "./harness.ts";

const ask = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
};

test("each test database is migrated and separate from the others", async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  await ask(one.url, "create table only_here (n int)");
  expect(
    await ask(one.url, "select to_regclass('log.events')::text as log, to_regclass('only_here')::text as own"),
  ).toEqual([{ log: "log.events", own: "only_here" }]);
  expect(
    await ask(other.url, "select to_regclass('log.events')::text as log, to_regclass('only_here') as own"),
  ).toEqual([{ log: "log.events", own: null }]);
  await one.drop();
  await expect(ask(one.url, "select 1")).rejects.toThrow(/does not exist/);
});

test("a test folder exists and is empty, and prefixes differ", async () => {
  expect(existsSync(await testFolder())).toBe(true);
  expect(testBus().prefix).not.toBe(testBus().prefix);
  expect(testSearch().prefix).not.toBe(testSearch().prefix);
});
