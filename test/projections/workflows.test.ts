import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { RunCancelled } from "#events/run.ts";
import { TriggerCreated, TriggerDeleted, TriggerDisabled, TriggerRotated } from "#events/trigger.ts";
import { Envelope, WorkflowChanged, WorkflowRegistered } from "#events/workflow.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import type { Db } from "#projections/projection.ts";
import { listRuns } from "#projections/runs/query.ts";
import {
  countTriggers,
  countRunsByTrigger,
  findTriggersByToken,
  getTrigger,
  listTriggers,
} from "#projections/triggers/query.ts";
import { getWorkflow, listWorkflows, countWorkflowUses, countDefinitionUses } from "#projections/workflows/query.ts";
import { runCreated } from "../samples.ts";
import { followingFixture, noteFlushes, type Fixture } from "./fixture.ts";

const WILD = "nul \u0000 lone \ud800";

async function register(f: Fixture, definition_id: string, name: string) {
  const workflow_id = newId();
  const registered = WorkflowRegistered.of(
    {
      workflow_id,
      definition_id,
      definition_version: 1,
      project_id: null,
      enabled: true,
      envelope: Envelope.parse({}),
    },
    { name, description: WILD },
  );
  await f.append(streamName("workflow", workflow_id), [registered]);
  return workflow_id;
}

async function trigger(f: Fixture, workflow_id: string, hook_token: string) {
  const trigger_id = newId();
  const created = TriggerCreated.of(
    { trigger_id, workflow_id, hook_token, secret_hash: "h1", secret_hint: "abcd", run_as: null },
    { name: WILD, default_args: JSON.stringify({ text: WILD }) },
  );
  await f.append(streamName("trigger", trigger_id), [created]);
  return trigger_id;
}

async function start(f: Fixture, workflow_id: string, trigger_id: string | null) {
  const run_id = newId();
  await f.append(streamName("run", run_id), [runCreated({ run_id, workflow_id, definition_id: newId(), trigger_id })]);
  return run_id;
}

/** The plans of the statements that a query sends. */
async function plansOf(f: Fixture, ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  await ask({
    query: async (text, values) => {
      plans.push(JSON.stringify(await f.db.query(`explain ${text}`, values)));
      return f.db.query(text, values);
    },
  });
  return plans;
}

/** The read models are equal to those that a rebuild from the log makes. */
async function expectRebuildEqual(f: Fixture) {
  const before = await f.hashes();
  for (const projection of projections.filter(({ name }) => name === "workflows" || name === "triggers"))
    await rebuild({ pool: f.pool, log: f.log, projection, logger: f.logger });
  expect(await f.hashes()).toEqual(before);
}

test("the runs that a person started are found by an index, page and count", async () => {
  const f = await followingFixture();
  const run = await start(f, newId(), null);
  await f.followed();
  await f.stopFollowing();
  await f.pool.query(`insert into read.runs select copy.* from (select * from read.runs limit 1) one, generate_series(1, 5000) n,
    jsonb_populate_record(null::read.runs, to_jsonb(one) || jsonb_build_object('id', gen_random_uuid(),
      'started_by', jsonb_build_object('type', 'person', 'id', (n % 500)::text)::text)) copy`);
  await f.pool.query("analyze read.runs");
  const none = { workflow_id: null, status: null, from: null, to: null, external_user_id: null, trigger_id: null };
  const filter = { ...none, parent_id: null, starter_id: null, error: null, started_by: "system:test" };
  let found: unknown;
  const plans = await plansOf(f, async (db) => {
    found = await listRuns(db, f.organization, filter, { limit: 50, offset: 0 });
  });
  expect(found).toMatchObject({ rows: [{ id: run }], total: 1 });
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).toContain("runs_by_actor");
});

test("workflows are read in their current state, with the number of users of each definition", async () => {
  const f = await followingFixture();
  const definition = newId();
  const [one, other] = [await register(f, definition, "one"), await register(f, definition, WILD)];
  const runs = [await start(f, one, null), await start(f, one, null)];
  await f.append(streamName("workflow", one), [
    WorkflowChanged.of({ workflow_id: one, enabled: false, envelope_version: 1 }, {}),
  ]);
  await f.append(streamName("run", runs[0]!), [
    RunCancelled.of(
      { run_id: runs[0]!, slot: null, forget_at: "2027-01-01T00:00:00.000Z", by: { type: "system", id: "test" } },
      { reason: null },
    ),
  ]);
  await f.followed();
  expect(await getWorkflow(f.db, f.organization, one)).toMatchObject({
    id: one,
    name: "one",
    description: WILD,
    enabled: false,
    definition_name: null,
    latest_version: null,
    created_by: "key:test",
    parked: false,
  });
  expect(await getWorkflow(f.db, newId(), one)).toBeUndefined();
  expect(await getWorkflow(f.db, f.organization, "x")).toBeUndefined();
  const page = await listWorkflows(f.db, f.organization, { limit: 1, offset: 1 });
  expect([page.total, page.rows.map(({ id, name }) => [id, name])]).toEqual([2, [[other, WILD]]]);
  expect([...(await countWorkflowUses(f.db, [one, other]))]).toEqual([
    [one, { triggers: 0, live: 1, total: 2 }],
    [other, { triggers: 0, live: 0, total: 0 }],
  ]);
  expect(await countDefinitionUses(f.db, f.organization, definition)).toEqual({ enabled: 1, live: 1 });
  expect(await countDefinitionUses(f.db, newId(), definition)).toEqual({ enabled: 0, live: 0 });
  await expectRebuildEqual(f);
});

const triggerOf = async ({ db }: Pick<Fixture, "db">, token: string) =>
  (await findTriggersByToken(db, [token])).get(token);

test("triggers are found by their token with their workflow, and show the time of their last run", async () => {
  const f = await followingFixture();
  const workflow = await register(f, newId(), "one");
  const [used, never] = [await trigger(f, workflow, "token one"), await trigger(f, workflow, "token two")];
  await start(f, workflow, used);
  await start(f, workflow, used);
  await f.append(streamName("trigger", used), [
    TriggerRotated.of({ trigger_id: used, secret_hash: "h2", secret_hint: "efgh" }),
    TriggerDisabled.of({ trigger_id: used }),
  ]);
  await f.followed();
  expect(await triggerOf(f, "token one")).toMatchObject({
    trigger_id: used,
    workflow_id: workflow,
    organization_id: f.organization,
    secret_hash: "h2",
    enabled: false,
    workflow_enabled: true,
  });
  expect(await triggerOf(f, "token")).toBeUndefined();
  expect(await getTrigger(f.db, workflow, used)).toMatchObject({ last_used_at: expect.any(Date), enabled: false });
  expect(await getTrigger(f.db, workflow, never)).toMatchObject({ name: WILD, last_used_at: null, enabled: true });
  expect(await getTrigger(f.db, newId(), never)).toBeUndefined();
  expect((await listTriggers(f.db, workflow, { limit: 5, offset: 0 })).rows.map(({ id }) => id)).toEqual([used, never]);
  expect(await countTriggers(f.db, workflow)).toEqual({ enabled: 1, total: 2 });
  expect([...(await countRunsByTrigger(f.db, [workflow], [used, never]))]).toEqual([[used, 2]]);
  const key = streamName("trigger", never);
  await f.append(key, [TriggerDeleted.of({ trigger_id: never })], { things: [key] });
  expect(await triggerOf(f, "token two")).toBeUndefined();
  await f.followed();
  expect((await listTriggers(f.db, workflow, { limit: 5, offset: 0 })).total).toBe(1);
  await expectRebuildEqual(f);
});

test("the rotation of a trigger's secret is flushed at commit, but a start of a run is not", async () => {
  const f = await followingFixture();
  const settings = await noteFlushes(f);
  const workflow = await register(f, newId(), "one");
  const id = await trigger(f, workflow, "token");
  await f.followed();
  await start(f, workflow, id);
  expect(await settings(await f.head())).toEqual(["off"]);
  const rotated = TriggerRotated.of({ trigger_id: id, secret_hash: "h2", secret_hint: "efgh" });
  expect(await settings(await f.append(streamName("trigger", id), [rotated]))).toEqual(["on"]);
});
