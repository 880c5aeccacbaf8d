import { expect, onTestFinished, test } from "vitest";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { testDatabase } from "#test/harness.ts";

test("a statement is planned once for a connection, whatever its parameters are", async () => {
  const { url, drop } = await testDatabase();
  const pool = openPool(url, { max: 1, name: "plans" });
  onTestFinished(async () => {
    await pool.end();
    await drop();
  });
  const find = "select oid from pg_class where relname = any ($1)";
  for (let n = 1; n <= 10; n++) await asDb(pool).query(find, [Array.from({ length: n }, (_, at) => `name ${at}`)]);
  const { rows } = await pool.query(
    "select generic_plans, custom_plans from pg_prepared_statements where statement = $1",
    [find],
  );
  expect(rows).toEqual([{ generic_plans: 10, custom_plans: 0 }]);
});
