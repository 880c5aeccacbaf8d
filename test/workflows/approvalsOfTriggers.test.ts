import { describe, expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { scheduledRunId } from "#events/schedule.ts";
import { code, isOver, openWorkflows, SOON, workflowSource, type Client } from "./harness.ts";
import { startRunData } from "./coordinator.ts";

/* Approvals with `self_approval: false` of runs that triggers started. */

const w = await openWorkflows();
const { home } = w;

const ASKS = workflowSource(`await ctx.awaitApproval("pay", { title: "Pay?", self_approval: false });`);
const triggers = ({ id }: { id: string }) => `/workflows/${id}/triggers`;
const inboxOf = async (by: Client): Promise<string[]> =>
  (await home.made(by("GET", "/workflows/approvals?mine=true&limit=100"))).data.map(({ id }: { id: string }) => id);

const untilExists = (run: string) =>
  expect.poll(async () => (await home.owner("GET", `/workflows/runs/${run}`)).status, SOON).toBe(200);

/** Expects that `excluded` may not decide the run's approval, and that `decider` may. */
async function expectDecider(run: string, excluded: Client, decider: Client): Promise<void> {
  const [approval] = await home.pending(run);
  expect([await inboxOf(excluded), await inboxOf(decider)]).toEqual([
    expect.not.arrayContaining([approval.id]),
    expect.arrayContaining([approval.id]),
  ]);
  const refusal = await home.decide(approval, "approve", excluded);
  expect([...code(refusal), refusal.body.error.message]).toEqual([
    403,
    "approver_not_allowed",
    "The person or key that started the run, or set its trigger, may not decide this approval.",
  ]);
  expect((await home.decide(approval, "approve", decider)).status).toBe(200);
  expect((await home.untilOver(run)).status).toBe("completed");
}

describe("the approvals of a webhook's runs", () => {
  test("cannot be decided by the person who created it", async () => {
    const builder = await home.member("builder");
    const workflow = await home.register(ASKS);
    const hook = await home.made(builder.call("POST", triggers(workflow), { name: "T" }));
    expect(hook.set_by).toBe(`person:${builder.id}`);
    const { run_id } = await home.call(hook);
    await expectDecider(run_id, builder.call, home.owner);
    const [created] = await w.resources.log.read(streamName("run", run_id));
    expect(created!.data).toMatchObject({
      started_by: { type: "webhook", id: hook.id },
      trigger_set_by: { type: "person", id: builder.id },
    });
  });

  test("cannot be decided by the person who has its new secret", async () => {
    const builder = await home.member("builder");
    const workflow = await home.register(ASKS);
    const hook = await home.hook(workflow);
    const turned = await home.made(builder.call("POST", `${triggers(workflow)}/${hook.id}/rotate`));
    expect(turned.set_by).toBe(`person:${builder.id}`);
    await expectDecider((await home.call({ ...hook, ...turned })).run_id, builder.call, home.owner);
  });

  test("cannot be decided by the person who set the secret of its sender's signatures", async () => {
    const builder = await home.member("builder");
    const workflow = await home.register(ASKS);
    const verify = { scheme: "github", secret: "s3cret-of-github" };
    const { id } = await home.hook(workflow, { verify });
    const path = `${triggers(workflow)}/${id}/rotate`;
    const body = { verify: { secret: "an0ther-of-github" } };
    expect((await home.made(builder.call("POST", path, body))).set_by).toBe(`person:${builder.id}`);
  });

  test("cannot be delegated to the person who created it", async () => {
    const builder = await home.member("builder");
    const workflow = await home.register(ASKS);
    const hook = await home.made(builder.call("POST", triggers(workflow), { name: "T" }));
    const { run_id } = await home.call(hook);
    const [approval] = await home.pending(run_id);
    const to = { to: builder.id, reason: "You know it." };
    const refusal = await home.owner("POST", `/workflows/approvals/${approval.id}/delegate`, to);
    expect([...code(refusal), refusal.body.error.message]).toEqual([
      400,
      "invalid_delegate",
      "to: started the run, or set its trigger, and may not decide.",
    ]);
    await home.cancel(run_id);
  });

  test("can be decided by the same people in a retry, a continued run and a child run", async () => {
    const builder = await home.member("builder");
    const child = await home.register(ASKS);
    const workflow = await home.register(
      workflowSource(`if (args.n === 0) return ctx.continueAs({ ...args, n: 1 });
const { run_id } = await ctx.waitForRun(await ctx.startRun(args.child));
await ctx.awaitApproval("pay", { title: "Pay?", self_approval: false });`),
    );
    const hook = await home.made(builder.call("POST", triggers(workflow), { name: "T" }));
    const first = (await home.call(hook, { n: 0, child: child.id })).run_id;
    const second = (await home.until(first, ({ status }) => status === "continued")).continued_as;
    await untilExists(second);
    const started = ({ child_runs: [one] }: any) => one?.started;
    const { child_runs } = await home.until(second, started);
    await expectDecider(child_runs[0].run_id, builder.call, home.owner);
    await home.pending(second);
    await home.cancel(second);
    await home.until(second, isOver);
    const retried = (await home.made(builder.call("POST", `/workflows/runs/${second}/retry`))).id;
    await expectDecider(retried, builder.call, home.owner);
  });

  test("of an older release, whose start does not name that person, can be decided by anybody", async () => {
    const { id, definition } = await home.register(ASKS);
    const run_id = newId();
    const more = {
      workflow_id: id,
      definition_id: definition.id,
      trigger_id: newId(),
      started_by: { type: "webhook", id: newId() },
      args: { json: "{}" },
    };
    const { bus, log } = w.resources;
    const command = newCommand("StartRun", {
      stream: streamName("run", run_id),
      organization_id: home.organization_id,
      request_id: "r",
      data: startRunData(run_id, undefined, more),
      timeout_ms: SOON.timeout,
    });
    await bus.sender(log).send(command);
    const [approval] = await home.pending(run_id);
    expect((await home.decide(approval)).status).toBe(200);
  });
});

describe("the approvals of a schedule's runs", () => {
  const soon = () => new Date(Date.now() + 1_000).toISOString();

  test("cannot be decided by the person who created it", async () => {
    const builder = await home.member("builder");
    const [workflow, at] = [await home.register(ASKS), soon()];
    const trigger = await home.made(builder.call("POST", triggers(workflow), { schedule: { at } }));
    expect(trigger.set_by).toBe(`person:${builder.id}`);
    const run = scheduledRunId(trigger.id, at);
    await untilExists(run);
    await expectDecider(run, builder.call, home.owner);
  });

  test("cannot be decided by the person who last changed or resumed it", async () => {
    const [builder, second] = [await home.member("builder"), await home.member("builder")];
    const workflow = await home.register(ASKS);
    const yearly = { cron: "0 0 1 1 *", time_zone: "Europe/Berlin" };
    const trigger = await home.made(home.owner("POST", triggers(workflow), { schedule: yearly }));
    const change = (body: object, by: Client) => home.made(by("PATCH", `${triggers(workflow)}/${trigger.id}`, body));
    expect((await change({ args: { n: 1 } }, second.call)).set_by).toBe(`person:${second.id}`);
    const at = soon();
    expect((await change({ schedule: { at } }, home.owner)).set_by).not.toBe(`person:${second.id}`);
    expect((await change({ paused: true }, second.call)).set_by).not.toBe(`person:${second.id}`);
    expect((await change({ paused: false }, builder.call)).set_by).toBe(`person:${builder.id}`);
    const run = scheduledRunId(trigger.id, at);
    await untilExists(run);
    await expectDecider(run, builder.call, second.call);
  });
});
