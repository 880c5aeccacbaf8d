import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { scheduledRunId } from "#events/schedule.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openWorkflows, SOON, WAITING, workflowSource } from "./harness.ts";

/* Triggers that start runs at due times. */

const MAX_SCHEDULES = 30;
const w = await openWorkflows({ SCHEDULE_SECONDS: "1", ORGANIZATION_SCHEDULES: String(MAX_SCHEDULES) });
const { home } = w;

const ECHO = workflowSource("return args;");
/** Once a year, so never during a test. */
const YEARLY = { cron: "0 0 1 1 *", time_zone: "Europe/Berlin" };
const path = (workflow: { id: string }, trigger = "") =>
  `/workflows/${workflow.id}/triggers${trigger && `/${trigger}`}`;
const create = (workflow: { id: string }, body: object, by = home.owner) => by("POST", path(workflow), body);
const made = (workflow: { id: string }, body: object, by = home): Promise<any> =>
  by.made(create(workflow, body, by.owner));
const change = (workflow: { id: string }, { id }: { id: string }, body: object, by = home.owner) =>
  by("PATCH", path(workflow, id), body);
const remove = (workflow: { id: string }, { id }: { id: string }) => home.owner("DELETE", path(workflow, id));
const read = async (workflow: { id: string }, { id }: { id: string }) =>
  (await home.made(home.owner("GET", path(workflow)))).data.find((trigger: any) => trigger.id === id);
const runsOf = async ({ id }: { id: string }): Promise<any[]> =>
  (await home.made(home.owner("GET", `/workflows/${id}/runs?limit=100`))).data.toReversed();
const lastFired = async (workflow: { id: string }, trigger: { id: string }) =>
  (await read(workflow, trigger)).last_fired ?? {};
const soon = () => new Date(Date.now() + 1_500).toISOString();
const eventsOf = ({ id }: { id: string }) => w.resources.log.read(streamName("trigger", id));

/** A schedule whose creation lies in the past, as if no process had run since. */
async function createBefore(minutes: number, workflow: { id: string }, settings: object): Promise<{ id: string }> {
  const { bus, log } = w.resources;
  const id = newId();
  const data = {
    trigger_id: id,
    workflow_id: workflow.id,
    run_as: null,
    jitter_seconds: 0,
    overlap: "skip",
    missed: "one",
    name: "",
    args: "{}",
    ...settings,
  };
  const stream = streamName("trigger", id);
  const { organization_id } = home;
  const command = newCommand("CreateSchedule", { stream, organization_id, request_id: "r", data, timeout_ms: 10_000 });
  await bus.sender(log).send({ ...command, at: new Date(Date.now() - minutes * 60_000).toISOString() });
  return { id };
}

test("a schedule starts a run once at its due time, with its arguments", async () => {
  const workflow = await home.register(ECHO);
  const at = soon();
  const trigger = await made(workflow, { name: " once ", schedule: { at }, args: { a: "\u0000\ud800" } });
  expect(trigger).toMatchObject({ kind: "schedule", name: "once", schedule: { at }, args: { a: "\u0000\ud800" } });
  expect(trigger).toMatchObject({
    hook_token: null,
    hook_url: null,
    next_times: [at],
    last_fired: null,
    paused: false,
  });
  await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject({ run_status: "completed" });
  const run_id = scheduledRunId(trigger.id, at);
  expect(await read(workflow, trigger)).toMatchObject({
    next_times: [],
    runs: 1,
    last_fired: { due_at: at, outcome: "started", run_id, error: null },
  });
  const run = await home.read(run_id);
  expect(run.args).toEqual({ a: "\u0000\ud800" });
  expect(run.started_by).toEqual({ type: "schedule", id: trigger.id, trigger_id: trigger.id });
  expect((await eventsOf(trigger)).map(({ type }) => type)).toEqual([
    "ScheduleCreated",
    "ScheduleFired",
    "ScheduledRunStarted",
  ]);
  expect((await remove(workflow, trigger)).status).toBe(204);
  expect(await read(workflow, trigger)).toMatchObject({ enabled: false });
});

test("a process wakes for each due time", async () => {
  const workflow = await home.register(ECHO);
  const first = Date.now() + 2_500;
  const times = [0, 1, 2, 3, 4].map((n) => new Date(first + n * 400).toISOString());
  const triggers = await Promise.all(times.map((at) => made(workflow, { schedule: { at } })));
  await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBe(5);
  const delays = await Promise.all(
    triggers.map(async (trigger, n) => {
      const [, fired] = await eventsOf(trigger);
      return fired!.recorded_at.getTime() - Date.parse(times[n]!);
    }),
  );
  for (const delay of delays) expect(delay).toBeLessThan(1_000);
});

test("an interval starts a run at each of its times", async () => {
  const workflow = await home.register(ECHO);
  const trigger = await made(workflow, { schedule: { every: 1 } });
  expect(trigger.next_times).toHaveLength(5);
  await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBeGreaterThan(2);
  await home.made(change(workflow, trigger, { paused: true }));
  const fired = (await eventsOf(trigger)).filter(({ type }) => type === "ScheduleFired");
  const due = fired.map(({ data }) => Date.parse((data as { due_at: string }).due_at));
  expect(due.slice(1).map((time, n) => time - due[n]!)).toEqual(due.slice(1).map(() => 1_000));
  const started = fired.filter(({ data }) => (data as { action: string }).action === "start");
  await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBe(started.length);
});

describe("while the previous run is live, a due time", () => {
  const due = async (overlap: string) => {
    const workflow = await home.register(WAITING);
    const trigger = await made(workflow, { schedule: { every: 1 }, overlap });
    await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBeGreaterThan(0);
    return { workflow, trigger };
  };
  test("starts no run", async () => {
    const { workflow, trigger } = await due("skip");
    await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject({ outcome: "skipped", run_id: null });
    expect(await runsOf(workflow)).toHaveLength(1);
    await home.made(change(workflow, trigger, { paused: true }));
  });
  test("cancels it", async () => {
    const { workflow, trigger } = await due("cancel");
    await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBeGreaterThan(1);
    await home.made(change(workflow, trigger, { paused: true }));
    const [first] = await runsOf(workflow);
    expect(first).toMatchObject({ status: "cancelled", cancelled_by: { type: "schedule", id: trigger.id } });
  });
  test("waits until it has ended", async () => {
    const { workflow, trigger } = await due("queue");
    await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject({ outcome: "queued", run_id: null });
    const [first, ...others] = await runsOf(workflow);
    expect(others).toEqual([]);
    await home.cancel(first.id);
    await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBe(2);
    // a pause empties the queue
    await home.made(change(workflow, trigger, { paused: true }));
    expect((await eventsOf(trigger)).filter(({ type }) => type === "ScheduleDequeued")).toHaveLength(1);
  });
});

describe("after an outage", () => {
  const rule = { cron: "*/10 * * * *", time_zone: "UTC" };
  test("one run starts for all missed times", async () => {
    const workflow = await home.register(ECHO);
    const trigger = await createBefore(65, workflow, { rule });
    await expect
      .poll(async () => (await eventsOf(trigger)).map(({ type }) => type), SOON)
      .toContain("ScheduledRunStarted");
    const [, missed, fired] = await eventsOf(trigger);
    expect([missed!.type, fired!.type]).toEqual(["ScheduleTimesMissed", "ScheduleFired"]);
    expect(Date.now() - Date.parse((fired!.data as any).due_at)).toBeLessThan(11 * 60_000);
    await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBe(1);
    await remove(workflow, trigger);
  });
  test("one run starts for each missed time, after the previous run", async () => {
    const workflow = await home.register(workflowSource('await ctx.sleep("2s"); return args;'));
    const trigger = await createBefore(35, workflow, { rule, missed: "all" });
    await expect.poll(async () => (await runsOf(workflow)).length, SOON).toBeGreaterThan(2);
    const [first, second, third] = await runsOf(workflow);
    const readEnd = async ({ id }: { id: string }) => Date.parse((await home.read(id)).completed_at);
    expect(Date.parse(second.created_at)).toBeGreaterThanOrEqual(await readEnd(first));
    expect(Date.parse(third.created_at)).toBeGreaterThanOrEqual(await readEnd(second));
    await remove(workflow, trigger);
  });
  test("no run starts", async () => {
    const workflow = await home.register(ECHO);
    const at = new Date(Date.now() - 5 * 60_000).toISOString();
    const trigger = await createBefore(35, workflow, { rule: { at }, missed: "none" });
    await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject({ outcome: "missed", due_at: at });
    expect(await read(workflow, trigger)).toMatchObject({ next_times: [], runs: 0 });
    expect((await remove(workflow, trigger)).status).toBe(204);
    expect(await read(workflow, trigger)).toBeUndefined();
  });
});

test("a schedule is changed, paused and resumed", async () => {
  const workflow = await home.register(ECHO);
  const trigger = await made(workflow, { schedule: YEARLY, jitter_seconds: 60, missed: "all", args: { a: 1 } });
  expect(trigger).toMatchObject({ schedule: YEARLY, jitter_seconds: 60, overlap: "skip", missed: "all" });
  const paused = await home.made(change(workflow, trigger, { paused: true, overlap: "queue" }));
  expect(paused).toMatchObject({ paused: true, next_times: [], overlap: "queue", missed: "all", schedule: YEARLY });
  const resumed = await home.made(change(workflow, trigger, { paused: null, missed: null, jitter_seconds: null }));
  expect(resumed).toMatchObject({ paused: false, next_times: trigger.next_times, missed: "one", jitter_seconds: 0 });
  const at = soon();
  const changed = await home.made(change(workflow, trigger, { schedule: { at }, args: { b: 2 }, name: "new" }));
  expect(changed).toMatchObject({ schedule: { at }, args: { b: 2 }, name: "new", next_times: [at] });
  await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject({ run_status: "completed" });
  expect((await home.read(scheduledRunId(trigger.id, at))).args).toEqual({ b: 2 });
});

test("a refused start is reported, and the schedule continues", async () => {
  const workflow = await home.register(WAITING, { concurrency: { max_runs: 1 } });
  await home.start(workflow);
  const trigger = await made(workflow, { schedule: { every: 1 } });
  const refused = (code: string) => ({ outcome: "refused", run_id: null, error: { code } });
  await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject(refused("too_many_live_runs"));
  await home.edit(workflow, { enabled: false });
  await expect.poll(() => lastFired(workflow, trigger), SOON).toMatchObject(refused("workflow_disabled"));
  expect((await lastFired(workflow, trigger)).error.message).toContain("disabled");
  await remove(workflow, trigger);
});

test("arguments that the workflow would refuse are refused at once, and again when its newest version refuses them", async () => {
  const meta = (type: string) => ({ args: { type: "object", properties: { n: { type } }, required: ["n"] } });
  const definition = await home.define(workflowSource("return 1;", "", meta("integer")));
  const workflow = await home.register(undefined, {}, { definition_id: definition.id });
  expectRefusal(await create(workflow, { schedule: YEARLY, args: { n: "1" } }), 400, "invalid_args", "/args/n");
  expectRefusal(await create(workflow, { schedule: YEARLY }), 400, "invalid_args", "/args/n");
  const trigger = await made(workflow, { schedule: { every: 1 }, args: { n: 1 } });
  expectRefusal(await change(workflow, trigger, { args: {} }), 400, "invalid_args", "/args/n");
  const source = workflowSource("return 1;", "", meta("string"));
  await home.made(home.owner("PATCH", `/definitions/${definition.id}`, { source }));
  await home.edit(workflow, { definition_version: null });
  await expect
    .poll(() => lastFired(workflow, trigger), SOON)
    .toMatchObject({ outcome: "refused", error: { code: "invalid_args" } });
  await remove(workflow, trigger);
});

describe("a schedule is refused", () => {
  const refusals: [body: object, code: string | undefined, param: string][] = [
    [{ schedule: {} }, "invalid_schedule", "schedule"],
    [{ schedule: "0 9 * * *" }, "invalid_schedule", "schedule"],
    [{ schedule: { ...YEARLY, every: 60 } }, "invalid_schedule", "schedule"],
    [{ schedule: { ...YEARLY, until: 1 } }, "invalid_schedule", "schedule.until"],
    [{ schedule: { cron: "0 0 31 2 *" } }, "invalid_schedule", "schedule.cron"],
    [{ schedule: { cron: "61 * * * *" } }, "invalid_schedule", "schedule.cron"],
    [{ schedule: { cron: "* * * * * *" } }, "invalid_schedule", "schedule.cron"],
    [{ schedule: { cron: "x".repeat(101) } }, "invalid_schedule", "schedule.cron"],
    [{ schedule: { ...YEARLY, time_zone: "Mars/Base" } }, "invalid_schedule", "schedule.time_zone"],
    [{ schedule: { ...YEARLY, time_zone: "+02:00" } }, "invalid_schedule", "schedule.time_zone"],
    [{ schedule: { every: 60, time_zone: "UTC" } }, "invalid_schedule", "schedule.time_zone"],
    [{ schedule: { every: 0 } }, "invalid_schedule", "schedule.every"],
    [{ schedule: { every: 1.5 } }, "invalid_schedule", "schedule.every"],
    [{ schedule: { at: "2020-01-01T00:00:00Z" } }, "invalid_schedule", "schedule.at"],
    [{ schedule: { at: "2999-01-01T00:00:00Z" } }, "invalid_schedule", "schedule.at"],
    [{ schedule: { at: "tomorrow" } }, "invalid_schedule", "schedule.at"],
    [{ schedule: { every: 60 }, jitter_seconds: 60 }, "invalid_schedule", "jitter_seconds"],
    [{ schedule: YEARLY, jitter_seconds: 3_601 }, "invalid_schedule", "jitter_seconds"],
    [{ schedule: YEARLY, overlap: "both" }, "invalid_schedule", "overlap"],
    [{ schedule: YEARLY, missed: "some" }, "invalid_schedule", "missed"],
    [{ schedule: YEARLY, paused: true }, "invalid_schedule", "paused"],
    [{ schedule: YEARLY, args: [] }, "invalid_args", "args"],
    [{ schedule: YEARLY, args: { a: "x".repeat(32_768) } }, "invalid_args", "args"],
    [{ schedule: YEARLY, verify: { scheme: "github", secret: "12345678" } }, "invalid_verify", "verify"],
    [{ schedule: YEARLY, headers: ["x-a"] }, "invalid_headers", "headers"],
    [{ schedule: YEARLY, default_args: {} }, "invalid_default_args", "default_args"],
    [{ schedule: YEARLY, run_as: { type: "person", id: UNKNOWN } }, "invalid_run_as", "run_as.id"],
    [{ overlap: "skip" }, "invalid_schedule", "overlap"],
    [{ args: {} }, "invalid_args", "args"],
  ];
  let workflow: { id: string };
  beforeAll(async () => {
    workflow = await home.register(ECHO);
  });
  test.each(refusals.map(([body, code, param]) => [JSON.stringify(body).slice(0, 80), body, code, param] as const))(
    "with %s",
    async (_, body, code, param) => expectRefusal(await create(workflow, body), 400, code, param),
  );

  test("for jitter beyond the interval, also when only one of them changes", async () => {
    const trigger = await made(workflow, { schedule: { every: 7_200 }, jitter_seconds: 1_800 });
    const refuse = async (body: object) =>
      expectRefusal(await change(workflow, trigger, body), 400, "invalid_schedule", "jitter_seconds");
    await refuse({ schedule: { cron: "*/30 * * * *" } });
    await home.made(change(workflow, trigger, { schedule: { cron: "*/30 * * * *" }, jitter_seconds: null }));
    await refuse({ jitter_seconds: 1_800 });
    expect(await home.made(change(workflow, trigger, { jitter_seconds: 1_799 }))).toMatchObject({
      schedule: { cron: "*/30 * * * *", time_zone: "UTC" },
      jitter_seconds: 1_799,
    });
    await remove(workflow, trigger);
  });

  test("for a workflow that is deleted or unknown", async () => {
    const deleted = await home.register(ECHO);
    expect((await home.owner("DELETE", `/workflows/${deleted.id}`)).status).toBe(204);
    expectRefusal(await create(deleted, { schedule: YEARLY }), 409, "workflow_disabled", "id");
    expectRefusal(await create({ id: UNKNOWN }, { schedule: YEARLY }), 404, "workflow_not_found", "id");
  });

  test("above the limit of the organization, which counts active schedules", async () => {
    const other = await w.join("Limited");
    const busy = await other.register(ECHO);
    const all = [];
    for (let n = 0; n < MAX_SCHEDULES; n++) all.push(await made(busy, { schedule: YEARLY }, other));
    expectRefusal(await create(busy, { schedule: YEARLY }, other.owner), 409, "too_many_schedules", "schedule");
    expect((await other.owner("DELETE", path(busy, all[0].id))).status).toBe(204);
    await made(busy, { schedule: YEARLY }, other);
  });
});

test("fields of another kind of trigger are refused", async () => {
  const workflow = await home.register(ECHO);
  const hook = await home.hook(workflow);
  expect(hook).toMatchObject({ kind: "webhook", schedule: null, next_times: null, paused: null });
  for (const body of [{ paused: true }, { jitter_seconds: 60 }])
    expectRefusal(await change(workflow, hook, body), 409, "trigger_has_no_schedule", "trigger_id");
  const trigger = await made(workflow, { schedule: YEARLY });
  const rotated = await home.owner("POST", `${path(workflow, trigger.id)}/rotate`);
  expectRefusal(rotated, 409, "trigger_has_no_secret", "trigger_id");
  expectRefusal(await change(workflow, trigger, { verify: null }), 400, "invalid_verify", "verify");
  expectRefusal(await change(workflow, trigger, { schedule: { cron: "x" } }), 400, "invalid_schedule", "schedule.cron");
});

test("a repeated request creates one schedule", async () => {
  const workflow = await home.register(ECHO);
  const post = () => home.owner("POST", path(workflow), { schedule: YEARLY }, { "idempotency-key": "one" });
  const [first, second] = [(await post()).body, (await post()).body];
  expect(second).toEqual(first);
});

test("another organization and other roles cannot reach a schedule", async () => {
  const workflow = await home.register(ECHO);
  const trigger = await made(workflow, { schedule: YEARLY });
  const stranger = await w.join("Stranger");
  const own = await stranger.register(ECHO);
  expectRefusal(await change(workflow, trigger, { paused: true }, stranger.owner), 404, "workflow_not_found", "id");
  expectRefusal(await change(own, trigger, { paused: true }, stranger.owner), 404, "trigger_not_found", "trigger_id");
  expectRefusal(await create(workflow, { schedule: YEARLY }, stranger.owner), 404, "workflow_not_found", "id");
  const viewer = await home.member("viewer");
  expectRefusal(await change(workflow, trigger, { paused: true }, viewer.call), 403, "forbidden", null);
  expect((await viewer.call("GET", path(workflow))).body.data[0].schedule).toEqual(YEARLY);
  expect(await read(workflow, trigger)).toEqual(trigger);
});

test("the example of the documentation works", async () => {
  const page = await readFile(new URL("../../docs/workflows.md", import.meta.url), "utf8");
  const [, example] = /```json\n(\{[^`]*"schedule"[^`]*\})\n```/.exec(page)!;
  const trigger = await made(await home.register(ECHO), JSON.parse(example!));
  expect(trigger).toMatchObject({ ...JSON.parse(example!), kind: "schedule", missed: "one" });
  expect(trigger.next_times).toHaveLength(5);
});
