import { expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { scheduledRunId } from "#events/schedule.ts";
import { openWorkflows, SOON, WAITING, workflowSource } from "./harness.ts";

/* What the start of a run at a due time costs. */

const MANY = 100;
const w = await openWorkflows();
const { home } = w;

async function create(workflow: { id: string }, at: string, more: object = {}): Promise<string> {
  const trigger_id = newId();
  const settings = { rule: { at }, jitter_seconds: 0, overlap: "skip", missed: "one", name: "", args: '{"a":1}' };
  const data = { trigger_id, workflow_id: workflow.id, run_as: null, ...settings, ...more };
  const stream = streamName("trigger", trigger_id);
  const { organization_id } = home;
  const command = newCommand("CreateSchedule", { stream, organization_id, request_id: "r", data, timeout_ms: 10_000 });
  const created = { ...command, at: new Date(Date.parse(at) - 1_000).toISOString() };
  expect((await w.resources.bus.sender(w.resources.log).send(created)).rejection).toBeUndefined();
  return trigger_id;
}

/** The commands that appended to streams, each with the types of its events; those that only created a schedule left out. */
async function commandsOn(streams: string[]): Promise<string[][]> {
  const rows = await w.resources.db.query<{ types: string[] }>(
    `select array_agg(type order by position) as types from log.events where command_id in (
       select command_id from log.events where stream = any ($1) and type <> 'ScheduleCreated'
     ) group by command_id order by min(position)`,
    [streams],
  );
  return rows.map(({ types }) => types);
}

test(`${MANY} schedules that are due together take one command each, which decides, starts and records`, async () => {
  const workflow = await home.register(workflowSource("return args;"));
  const at = new Date(Date.now() + 1_500).toISOString();
  const triggers = await Promise.all(Array.from({ length: MANY }, () => create(workflow, at)));
  const streams = triggers.map((id) => streamName("trigger", id));
  await expect.poll(async () => (await commandsOn(streams)).length, SOON).toBe(MANY);
  for (const types of await commandsOn(streams)) {
    expect(types[0]).toBe("RunCreated");
    expect(types.slice(-2)).toEqual(["ScheduleFired", "ScheduledRunStarted"]);
  }
  const runs = triggers.map((id) => scheduledRunId(id, at));
  const ends = async () =>
    (await commandsOn(runs.map((id) => streamName("run", id)))).flat().filter((type) => type === "RunCompleted");
  await expect.poll(async () => (await ends()).length, SOON).toBe(MANY);
  expect((await home.untilOver(runs[0]!)).args).toEqual({ a: 1 });
  const heads = await w.resources.log.heads(streams);
  expect([...heads.values()].filter(({ status }) => status !== null)).toEqual([]);
});

test("a due time that waits for or cancels the previous run is decided in a commit of its own", async () => {
  const workflow = await home.register(WAITING);
  const at = new Date(Date.now() + 1_000).toISOString();
  const more = { rule: { every: 1 }, overlap: "cancel" };
  const trigger = await create(workflow, at, more);
  const decisions = async () =>
    (await commandsOn([streamName("trigger", trigger)])).filter((types) => types.includes("ScheduleFired"));
  await expect.poll(async () => (await decisions()).length, SOON).toBeGreaterThan(1);
  await home.made(home.owner("PATCH", `/workflows/${workflow.id}/triggers/${trigger}`, { paused: true }));
  const [first, ...others] = await decisions();
  expect(first).toEqual(expect.arrayContaining(["RunCreated", "ScheduledRunStarted"]));
  for (const types of others) expect(types).toEqual(["ScheduleFired"]);
});

test("a schedule with a state of an earlier release finds the responsible person in its history", async () => {
  const workflow = await home.register(workflowSource("return args;"));
  const at = new Date(Date.now() + 2_000).toISOString();
  const body = { name: "old", schedule: { at }, args: { a: 2 } };
  const trigger = await home.made(home.owner("POST", `/workflows/${workflow.id}/triggers`, body));
  const changed = await w.resources.db.query(
    `update log.streams set state = regexp_replace(state, ',"set":\\{[^}]*\\}', '') where stream = $1 and state ~ '"set"' returning stream`,
    [streamName("trigger", trigger.id)],
  );
  expect(changed).toHaveLength(1);
  const readCreation = async () => (await w.resources.log.read(streamName("run", scheduledRunId(trigger.id, at))))[0];
  await expect.poll(readCreation, SOON).toBeDefined();
  const { data, personal } = (await readCreation()) as any;
  expect(`person:${data.trigger_set_by.id}`).toBe(trigger.set_by);
  expect(JSON.parse(personal.args.json)).toEqual({ a: 2 });
});
