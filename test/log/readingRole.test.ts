import { readFile } from "node:fs/promises";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import { until } from "../bus/bus.ts";
import { afterFile } from "../cleanUp.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, type Platform } from "../platform.ts";
import { freshName } from "../template.ts";

/* The role of deploy/reading-role.sql on a real server: it sees one organization, whichever table it asks. */

const CREDENTIALS = ["keys", "providers", "sessions", "triggers", "users"];
let platform: Platform;
let reader: pg.Client;
const organizations: string[] = [];

beforeAll(async () => {
  platform = await startPlatform();
  const { pool, addresses } = platform.resources;
  for (const name of ["One", "Two"]) {
    const { api_key, organization_id } = await platform.organization(name);
    organizations.push(organization_id);
    const send = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
    expect((await send("POST", "/chat/completions", say("hello"))).status).toBe(200);
  }
  const inTurns = "select count(distinct organization_id)::int as count from read.turns where status = 'completed'";
  await until(async () => (await pool.query(inTurns)).rows[0].count === 2);

  const role = freshName("reader");
  await pool.query((await readFile("deploy/reading-role.sql", "utf8")).replaceAll("svc_reader", role));
  await pool.query(`create role ${role}_login login password 'r' in role ${role}`);
  const url = new URL(addresses.database_url);
  Object.assign(url, { username: `${role}_login`, password: "r" });
  reader = new pg.Client({ connectionString: url.href });
  await reader.connect();
  afterFile(async () => {
    await reader.end();
    const admin = new pg.Client({ connectionString: addresses.database_url });
    await admin.connect();
    await admin.query(`drop role ${role}_login; drop owned by ${role}; drop role ${role}`);
    await admin.end();
  });
});

const allTables = async () => {
  const { rows } = await platform.resources.pool.query<{
    table: string;
    name: string;
    schema: string;
    secured: boolean;
    policies: number;
    owned: boolean;
  }>(
    `select t.table_schema || '.' || t.table_name as table, t.table_name as name, t.table_schema as schema, c.relrowsecurity as secured,
            (select count(*)::int from pg_policies p where p.schemaname = t.table_schema and p.tablename = t.table_name) as policies,
            exists (select from information_schema.columns o where (o.table_schema, o.table_name, o.column_name)
                    = (t.table_schema, t.table_name, 'organization_id')) as owned
     from information_schema.tables t join pg_class c on c.oid = format('%I.%I', t.table_schema, t.table_name)::regclass
     where t.table_schema not in ('pg_catalog', 'information_schema', 'public') and t.table_type = 'BASE TABLE' order by 1`,
  );
  return rows;
};
const asOrganization = (id: string) => reader.query("select set_config('app.organization_id', $1, false)", [id]);
const countRows = async (table: string) =>
  (await reader.query<{ count: number }>(`select count(*)::int as count from ${table}`)).rows[0]!.count;

test("every table has row-level security, and a policy if its rows name their organization and are not credentials", async () => {
  const tables = await allTables();
  expect(tables.length).toBeGreaterThan(25);
  expect(tables.filter(({ secured }) => !secured).map(({ table }) => table)).toEqual([]);
  for (const { table, name, owned, policies } of tables)
    expect(policies, table).toBe(owned && !CREDENTIALS.includes(name) ? 1 : 0);
});

describe("the reading role", () => {
  test("sees nothing in any table before it sets an organization", async () => {
    await reader.query("reset app.organization_id");
    for (const { table, schema } of await allTables())
      if (schema === "read") expect(await countRows(table), table).toBe(0);
  });
  test("sees in every table exactly the rows of its organization", async () => {
    const { pool } = platform.resources;
    const filled = new Set<string>();
    for (const id of organizations) {
      await asOrganization(id);
      for (const { table, schema, owned, policies } of await allTables()) {
        if (schema !== "read") continue;
        const there = owned
          ? (await pool.query(`select count(*)::int as count from ${table} where organization_id = $1`, [id])).rows[0]
              .count
          : 0;
        if (policies > 0 && there > 0) filled.add(table);
        expect(await countRows(table), table).toBe(policies > 0 ? there : 0);
      }
      expect((await reader.query("select distinct organization_id from read.turns")).rows).toEqual([
        { organization_id: id },
      ]);
    }
    expect([...filled]).toEqual(expect.arrayContaining(["read.turns", "read.agents", "read.usage"]));
  });
  test("cannot write, and cannot access the log or the operations", async () => {
    for (const statement of [
      "delete from read.turns",
      "update read.turns set status = 'failed'",
      "truncate read.turns",
      "create table read.mine (id int)",
      "select from log.events",
      "select from log.keys",
      "select from ops.workers",
      "select ops.protect_table('read.turns')",
      "alter table read.turns disable row level security",
    ])
      await expect(reader.query(statement), statement).rejects.toThrow(/permission denied|must be owner/);
  });
  test("can read a read model again after it was rebuilt", async () => {
    const { pool, log, logger } = platform.resources;
    await rebuild({ pool, log, logger, projection: projections.find(({ name }) => name === "turns")! });
    await asOrganization(organizations[0]!);
    expect(await countRows("read.turns")).toBe(1);
    await reader.query("reset app.organization_id");
    expect(await countRows("read.turns")).toBe(0);
  });
});
