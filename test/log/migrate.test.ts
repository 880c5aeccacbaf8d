import pg from "pg";
import { expect, test } from "vitest";
import { migrate } from "#infra/postgres/migrate.ts";
import { afterFile } from "../cleanUp.ts";
import { testDeployment } from "../platform.ts";
import { administer, freshName, withDatabase } from "../template.ts";

test("processes that start together on an empty database migrate it once, and all of them start", async () => {
  const { addresses } = await testDeployment();
  const name = freshName("together");
  const url = withDatabase(addresses.database_url, name);
  await administer(addresses.database_url, `create database ${name}`);
  afterFile(() => administer(addresses.database_url, `drop database if exists ${name} with (force)`));

  const missing = await Promise.all(Array.from({ length: 6 }, () => migrate(url)));
  expect(missing.flat().length).toBeGreaterThan(0);
  expect(await migrate(url)).toEqual([]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select indexrelid::regclass::text as name from pg_index where not indisvalid");
  await client.end();
  expect(rows).toEqual([]);
});
