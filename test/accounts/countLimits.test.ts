import { expect, test } from "vitest";
import { COUNT_LIMITS } from "#http/base/countLimits.ts";
import { countThings, type CountedKind } from "#projections/countThings.ts";
import { expectRefusal } from "../hostile/target.ts";
import type { clientOf } from "../http/service.ts";
import { toolSource } from "../tools/desk.ts";
import { workflowSource } from "../workflows/tenant.ts";
import { openPeople } from "./people.ts";

/* How many things of each kind an organization may have. Members: services/deciders/members.test.ts. */

const { service, signIn } = await openPeople();
const crowd = await service.organization("Crowd");
const by = await signIn(crowd);

/** Sends a request that finds what it created when it is sent again. */
const post = (path: string, key: string, body: object) => by("POST", path, body, { "idempotency-key": key });

async function registerWorkflow(name: string) {
  const source = workflowSource("return 1;");
  const { body } = await post("/definitions", "shared", { type: "workflow", name: "shared", source });
  return post("/workflows", name, { name, definition_id: body.id });
}

type Create = (name: string) => ReturnType<ReturnType<typeof clientOf>>;
const CREATE: Record<Exclude<CountedKind, "erasures">, Create> = {
  agents: (name) => post("/agents", name, { name }),
  collections: (name) => post("/v1/knowledge/collections", name, { name }),
  definitions: (name) => post("/definitions", name, { type: "tool", name, source: toolSource("return 1;") }),
  keys: (name) => post("/keys", name, { name }),
  prices: (name) => by("PUT", `/prices/acme/${name}`, { prices: [{ input: "1", output: "2" }] }),
  projects: (name) => post("/projects", name, { name }),
  providers: (name) => by("PUT", `/providers/${name}`, { api_key: "k", base_url: "http://127.0.0.1:9/v1" }),
  async retention_rules(name) {
    const { body } = await post("/projects", `ruled-${name}`, { name });
    return by("PUT", `/retention/project:${body.id}`, { threads: "30d" });
  },
  secrets: (name) => by("PUT", `/secrets/${name}`, { value: "word" }),
  async sources(name) {
    const { body } = await post("/v1/knowledge/collections", "sites", { name: "Sites" });
    const url = `https://nothing.invalid/${name}`;
    return post(`/v1/knowledge/collections/${body.slug}/sources`, name, { kind: "url", url });
  },
  workflows: registerWorkflow,
  enabled_workflows: (name) => registerWorkflow(`enabled-${name}`),
};

const TABLES: Partial<Record<CountedKind, string>> = {
  retention_rules: "read.retention",
  enabled_workflows: "read.workflows",
};
const tableOf = (kind: CountedKind): string => TABLES[kind] ?? `read.${kind}`;

/** Copies the oldest row until there are `wanted` things, because thousands of requests would take minutes. Returns the ids. */
async function fillTo(wanted: number, kind: CountedKind): Promise<string[]> {
  const table = tableOf(kind);
  const there = await countThings(service.db, crowd.organization_id, kind, wanted);
  const copies = await service.db.query<{ id: string }>(
    `insert into ${table} select copy.*
     from (select * from ${table} where organization_id = $1 order by created_at limit 1) one,
       generate_series(1, $2::integer) n,
       jsonb_populate_record(null::${table},
         to_jsonb(one) || jsonb_build_object('id', gen_random_uuid(), 'n', n) || $3::jsonb) copy
     returning id`,
    [crowd.organization_id, wanted - there, JSON.stringify(kind === "workflows" ? { enabled: false } : {})],
  );
  return copies.map(({ id }) => id);
}
const removeCopies = (kind: CountedKind, ids: string[]) =>
  service.db.query(`delete from ${tableOf(kind)} where id = any ($1::uuid[])`, [ids]);

test.each(Object.entries(CREATE) as [CountedKind, Create][])(
  "an organization may have no more %s than the limit, and may change and repeat what it has",
  async (kind, create) => {
    const { max, param } = COUNT_LIMITS[kind];
    expect((await create("first")).status).toBeLessThan(300);
    const copies = await fillTo(max - 1, kind);
    expect((await create("last")).status).toBeLessThan(300);
    expectRefusal(await create("more"), 409, `too_many_${kind.replace("enabled_", "")}`, param);
    expect((await create("last")).status).toBeLessThan(300);
    await removeCopies(kind, copies);
    expect((await create("more")).status).toBeLessThan(300);
  },
);

test("a disabled workflow makes room, and cannot be enabled beyond the limit", async () => {
  await CREATE.workflows("first");
  const { id } = (await CREATE.workflows("disabled")).body;
  expect((await by("DELETE", `/workflows/${id}`)).status).toBe(204);
  const copies = await fillTo(COUNT_LIMITS.enabled_workflows.max, "enabled_workflows");
  const change = (body: object) => by("PATCH", `/workflows/${id}`, body);
  expectRefusal(await change({ enabled: true }), 409, "too_many_workflows", "enabled");
  expect((await change({ description: "Not now" })).status).toBe(200);
  await removeCopies("enabled_workflows", copies);
  expect((await change({ enabled: true })).status).toBe(200);
});

test("an organization may have no more running erasures than the limit", async () => {
  const person = (await by("GET", "/auth/me")).body.user.id;
  const erase = () => by("POST", "/erasures", { owner: `person:${person}`, kinds: ["files"] });
  const { id } = (await erase()).body;
  await service.db.query(
    `insert into read.erasures select copy.*
     from read.erasures one, generate_series(1, $2::integer) n,
       jsonb_populate_record(null::read.erasures,
         to_jsonb(one) || jsonb_build_object('id', gen_random_uuid(), 'n', n, 'status', 'running')) copy
     where one.id = $1`,
    [id, COUNT_LIMITS.erasures.max],
  );
  expectRefusal(await erase(), 409, "too_many_erasures", "owner");
  await service.db.query("delete from read.erasures where organization_id = $1 and id <> $2", [
    crowd.organization_id,
    id,
  ]);
  expect((await erase()).status).toBe(202);
});
