import { expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { startProcess } from "../faults/processes.ts";
import { SOON, WAITING, workflowSource } from "./harness.ts";
import { startWithoutServices } from "./withoutServices.ts";

/* Schedules on several processes that are killed around the start of a run, and many that are due at once. */

const MANY = 1_000;
/** Time to create them all before they are due. */
const LEAD_MS = 30_000;
const LONG = { ...SOON, timeout: SOON.timeout * 4 };
const { deployment, platform, home, prepared, count } = await startWithoutServices(async (tenant) => ({
  workflow: await tenant.register(workflowSource("return 1;")),
  waiting: await tenant.register(WAITING),
}));
const { workflow, waiting } = prepared;

const send = async (trigger_id: string, type: string, data: object, at = new Date()): Promise<void> => {
  const { bus, log } = platform.resources;
  const stream = streamName("trigger", trigger_id);
  const { organization_id } = home;
  const fields = { stream, organization_id, request_id: "r", timeout_ms: 60_000, data: { trigger_id, ...data } };
  await bus.sender(log).send({ ...newCommand(type, fields), at: at.toISOString() });
};
/** Created a second before it is due, so that a slow machine may create it later. */
const create = async (at: string, more: object = {}): Promise<string> => {
  const trigger_id = newId();
  const settings = { rule: { at }, jitter_seconds: 0, overlap: "skip", missed: "one", name: "", args: "{}" };
  const data = { workflow_id: workflow.id, run_as: null, ...settings, ...more };
  await send(trigger_id, "CreateSchedule", data, new Date(Date.parse(at) - 1_000));
  return trigger_id;
};
const duplicates = () =>
  platform.resources.db.query(
    `select data::json->>'trigger_id' from log.events where type in ('ScheduleFired', 'ScheduledRunStarted')
     group by type, data::json->>'trigger_id', data::json->>'due_at' having count(*) > 1`,
  );

test("a run starts once if the process is killed before or after the commit that decides and starts it", async () => {
  for (const [n, point] of ["before-RunCreated", "after-RunCreated"].entries()) {
    const dying = await startProcess("services", deployment, { FAIL_AT: `${point}:1` });
    await create(new Date(Date.now() + 1_000).toISOString());
    await dying.ended;
    const next = await startProcess("services", deployment);
    await expect.poll(() => count("ScheduledRunStarted"), LONG).toBe(n + 1);
    expect([await count("ScheduleFired"), await count("RunCreated")]).toEqual([n + 1, n + 1]);
    next.kill();
    await next.ended;
  }
  expect(await duplicates()).toEqual([]);
});

test("a run that cancels the previous one starts once if the process is killed between decision and start", async () => {
  const dying = await startProcess("services", deployment, { FAIL_AT: "after-ScheduleFired:1" });
  const more = { rule: { every: 2 }, overlap: "cancel", workflow_id: waiting.id };
  const trigger_id = await create(new Date(Date.now() + 1_000).toISOString(), more);
  await dying.ended;
  const read = async () => (await platform.resources.log.read(streamName("trigger", trigger_id))) as any[];
  const decided = (await read()).at(-1);
  expect(decided).toMatchObject({ type: "ScheduleFired", data: { cancels: expect.any(String) } });
  const next = await startProcess("services", deployment);
  const startOf = async () =>
    (await read()).find(({ type, data }) => type === "ScheduledRunStarted" && data.due_at === decided.data.due_at);
  await expect.poll(startOf, LONG).toBeDefined();
  await send(trigger_id, "ChangeSchedule", { paused: true });
  const cancelled = await platform.resources.log.read(streamName("run", decided.data.cancels));
  expect(cancelled.map(({ type }) => type)).toContain("RunCancelled");
  expect(await duplicates()).toEqual([]);
  next.kill();
  await next.ended;
});

/** Milliseconds from the due time to the commits that decide a start and that create its run. */
const startDelays = (at: string) =>
  platform.resources.db.query(
    `select type, percentile_disc(0.5) within group (order by ms) as p50, max(ms) from (
       select type, extract(epoch from recorded_at - $1::timestamptz)::double precision * 1000 as ms from log.events
       where type in ('ScheduleFired', 'RunCreated') and recorded_at > $1
     ) delays group by type`,
    [at],
  );

test(`${MANY} schedules that are due in one second start a run each, on two processes`, async () => {
  const before = await count("RunCreated");
  const processes = [await startProcess("services", deployment), await startProcess("services", deployment)];
  const at = new Date(Date.now() + LEAD_MS).toISOString();
  for (let n = 0; n < MANY; n += 100) await Promise.all(Array.from({ length: 100 }, () => create(at)));
  await expect.poll(() => count("ScheduledRunStarted"), { ...LONG, interval: 200 }).toBe(before + MANY);
  console.log(`${MANY} starts after their due time, in ms: ${JSON.stringify(await startDelays(at))}`);
  expect([await count("RunCreated"), await duplicates()]).toEqual([before + MANY, []]);
  for (const process of processes) process.kill();
});
