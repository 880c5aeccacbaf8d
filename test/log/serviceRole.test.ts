import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { migrate } from "#infra/postgres/migrate.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { grantServiceRole } from "#infra/postgres/serviceRole.ts";
import { projections } from "#projections/index.ts";
import { afterFile } from "../cleanUp.ts";
import { clientOf, fileForm, say } from "../http/service.ts";
import { startPlatform, testDeployment, type Platform } from "../platform.ts";
import { administer, freshName } from "../template.ts";

/* The platform as a role that owns neither the log nor the operations (`svc migrate --service-role`). */

const role = freshName("service");
let platform: Platform;
let ownerUrl: string;
let owner: pg.Client;
let service: pg.Client;

const asRole = (databaseUrl: string): string => {
  const url = new URL(databaseUrl);
  Object.assign(url, { username: role, password: "s" });
  return url.href;
};
const openClient = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
};

beforeAll(async () => {
  const deployment = await testDeployment();
  ownerUrl = deployment.addresses.database_url;
  await administer(ownerUrl, `create role ${role} login password 's'`);
  afterFile(async () => {
    await administer(ownerUrl, `drop owned by ${role} cascade; drop role ${role}`);
  });
  await grantServiceRole(ownerUrl, role);
  deployment.addresses.database_url = asRole(ownerUrl);
  platform = await startPlatform({ deployment });
  owner = await openClient(ownerUrl);
  service = await openClient(deployment.addresses.database_url);
  afterFile(async () => {
    await Promise.all([owner.end(), service.end()]);
  });
});

describe("a platform whose user does not own the log", () => {
  test("answers, erases and rebuilds", async () => {
    const { api_key } = await platform.organization();
    const send = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
    expect((await send("POST", "/chat/completions", say("hello"))).status).toBe(200);
    const { body: file } = await send("POST", "/files", fileForm("secret", "notes.txt"));
    const dataKeys = async () =>
      (await owner.query("select from log.keys where thing like '%' || $1 || '%'", [file.id.split("-").at(-1)]))
        .rowCount;
    expect(await dataKeys()).toBe(1);
    expect((await send("DELETE", `/files/${file.id}`)).status).toBe(200);
    expect(await dataKeys()).toBe(0);
    const { pool, log, logger } = platform.resources;
    for (const name of ["turns", "keys"])
      await rebuild({ pool, log, logger, projection: projections.find((each) => each.name === name)! });
    expect((await send("POST", "/chat/completions", say("again"))).status).toBe(200);
    const { rows } = await owner.query(
      "select distinct tableowner from pg_tables where schemaname = 'read' and tablename in ('turns', 'keys')",
    );
    expect(rows).toEqual([{ tableowner: role }]);
  });
  test("cannot change, delete or hide an event, and cannot alter a table", async () => {
    for (const statement of [
      "delete from log.events",
      "update log.events set data = '{}'",
      "truncate log.events",
      "drop table log.events",
      "drop function log.append",
      "alter table log.events disable row level security",
      "create table log.mine (id int)",
      "drop policy of_service on log.events",
      "truncate log.head",
    ])
      await expect(service.query(statement), statement).rejects.toThrow(/permission denied|must be owner/);
  });
  test("can be granted its rights again without harm", async () => {
    await grantServiceRole(ownerUrl, role);
    expect((await service.query("select count(*)::int > 0 as found from log.events")).rows).toEqual([{ found: true }]);
  });
});

test("a start as a user without tables fails if a migration is missing, and says how to migrate", async () => {
  const url = platform.resources.addresses.database_url;
  const last = await owner.query(
    "delete from svc_migrations where id = (select max(id) from svc_migrations) returning name, run_on",
  );
  await expect(migrate(url)).rejects.toThrow("run `svc migrate` as the owner of the tables");
  const { name, run_on } = last.rows[0];
  await owner.query("insert into svc_migrations (name, run_on) values ($1, $2)", [name, run_on]);
  expect(await migrate(url)).toEqual([]);
});
