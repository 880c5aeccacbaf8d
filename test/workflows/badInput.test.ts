import { expect, test } from "vitest";
import { openWorkflows, UNKNOWN, WAITING, workflowSource, type Workflows } from "./harness.ts";

/* Input that cannot work is refused with an error that names the field, and nothing is lost by it. */

const w = await openWorkflows();

/** Status, code and field of a refusal, and its message. */
async function refusal(answer: ReturnType<Workflows["home"]["owner"]>) {
  const { status, body } = await answer;
  return { status, code: body.error.code, param: body.error.param, message: body.error.message };
}

test("a schedule whose cron never fires is refused", async () => {
  const { id } = await w.home.register(WAITING);
  const create = (cron: string) => w.home.owner("POST", `/workflows/${id}/triggers`, { name: "T", schedule: { cron } });
  expect(await refusal(create("0 0 31 2 *"))).toMatchObject({
    status: 400,
    code: "invalid_schedule",
    param: "schedule.cron",
    message: expect.stringContaining("no date fits it, so it never fires"),
  });
});

test("a schedule in a time zone that does not exist is refused", async () => {
  const { id } = await w.home.register(WAITING);
  const schedule = { cron: "@daily", time_zone: "Europe/Atlantis" };
  const create = w.home.owner("POST", `/workflows/${id}/triggers`, { name: "T", schedule });
  expect(await refusal(create)).toMatchObject({ status: 400, code: "invalid_schedule", param: "schedule.time_zone" });
});

test("invalid arguments are refused with the name of the sent field, or of all arguments", async () => {
  const args = { type: "object", minProperties: 1, properties: { n: { type: "number" } } };
  const workflow = await w.home.register(workflowSource("return 1", "", { args }));
  const start = (args: object) => w.home.owner("POST", `/workflows/${workflow.id}/runs`, { args });
  const expected = { status: 400, code: "invalid_args" };
  expect(await refusal(start({ n: "1" }))).toMatchObject({
    ...expected,
    param: "/args/n",
    message: expect.stringMatching(/^args\/n: /),
  });
  expect(await refusal(start({}))).toMatchObject({
    ...expected,
    param: "/args",
    message: expect.stringMatching(/^args: /),
  });
  const hook = await w.home.hook(workflow);
  const call = (payload: object) => w.home.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, payload);
  expect(await refusal(call({ n: "1" }))).toMatchObject({ ...expected, param: "/n" });
  expect(await refusal(call({}))).toMatchObject({ ...expected, param: null });
});

test("a group without members is refused", async () => {
  expect(await refusal(w.home.owner("PUT", "/groups/nobody", { members: [] }))).toMatchObject({
    status: 400,
    code: "invalid_members",
    param: "members",
    message: expect.stringContaining("a group without members could decide nothing"),
  });
});

test("an approval link that is used twice decides once", async () => {
  const run = await w.home.start(await w.home.register(WAITING));
  const [approval] = await w.home.pending(run);
  const link = await w.home.made(w.home.owner("POST", `/workflows/approvals/${approval.id}/links`, {}));
  const decide = (decision: string) =>
    w.home.clientAt(new URL(link.url).hash.slice(1))("POST", `/workflows/approval-links/${link.id}/decision`, {
      decision,
    });
  expect((await decide("approve")).status).toBe(200);
  expect(await refusal(decide("reject"))).toMatchObject({
    status: 410,
    code: "approval_link_ended",
    param: "link_id",
    message: expect.stringContaining("its holder approved"),
  });
  expect((await w.home.untilOver(run)).status).toBe("completed");
  expect((await w.home.approvals(run))[0].status).toBe("approved");
});

test("an event for a single run is refused if it matches two", async () => {
  const workflow = await w.home.register(workflowSource(`return ctx.waitForEvent("twice")`));
  const runs = [await w.home.start(workflow), await w.home.start(workflow)];
  for (const run of runs) await w.home.until(run, ({ waiting_on }) => waiting_on.length > 0);
  const send = w.home.owner("POST", "/workflows/events", { name: "twice", to: "one" });
  expect(await refusal(send)).toMatchObject({ status: 409, code: "event_matches_several_runs", param: "to" });
  const { body } = await w.home.owner("POST", "/workflows/events", { name: "twice" });
  expect(body.reached).toBe(2);
});

test("a fork from a step that never ran is refused", async () => {
  const { id } = await w.home.run(workflowSource("return 1"));
  const fork = (body: object) => w.home.owner("POST", `/workflows/runs/${id}/fork`, body);
  expect(await refusal(fork({ step_id: UNKNOWN }))).toMatchObject({
    status: 400,
    code: "step_never_ran",
    param: "step_id",
  });
  expect((await fork({})).status).toBeLessThan(300);
});

test("a fork with invalid arguments is refused with their position in its body, also for a run that a trigger started", async () => {
  const args = { type: "object", properties: { n: { type: "number" } } };
  const workflow = await w.home.register(workflowSource("return args.n", "", { args }));
  const hook = await w.home.hook(workflow);
  const sent = await w.home.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, { n: 1 });
  const { id } = await w.home.untilOver(sent.body.run_id);
  const fork = (args: object) => w.home.owner("POST", `/workflows/runs/${id}/fork`, { args });
  expect(await refusal(fork({ n: "1" }))).toMatchObject({
    status: 400,
    code: "invalid_args",
    param: "/args/n",
    message: expect.stringMatching(/^args\/n: /),
  });
  expect((await fork({ n: 2 })).status).toBeLessThan(300);
});

test("a retry or fork with a deleted or unknown version is refused", async () => {
  const workflow = await w.home.register(workflowSource(`if (args.fails) throw new Error("as asked")`));
  const failed = await w.home.untilOver(await w.home.start(workflow, { fails: true }));
  const act = (what: string, body?: object, run: string = failed.id) =>
    w.home.owner("POST", `/workflows/runs/${run}/${what}`, body);
  const other = await w.home.start(workflow, { fails: true });
  await w.home.untilOver(other);
  const retried = await w.home.made(act("retry", undefined, other));
  await w.home.untilOver(retried.id);
  expect(await refusal(act("fork", { definition_version: 9 }))).toMatchObject({
    status: 400,
    code: "unknown_version",
    param: "definition_version",
    message: expect.stringContaining("has the versions 1 to 1"),
  });
  expect((await w.home.owner("DELETE", `/workflows/${workflow.id}`)).status).toBeLessThan(300);
  expect((await w.home.owner("DELETE", `/definitions/${workflow.definition.id}`)).status).toBeLessThan(300);
  for (const what of ["retry", "fork"])
    expect(await refusal(act(what, what === "fork" ? {} : undefined))).toMatchObject({
      status: 404,
      code: "definition_not_found",
      param: "definition_id",
    });
  expect(await w.home.read(failed.id)).toMatchObject({ status: "failed", error: expect.stringContaining("as asked") });
  // a repetition is answered with the retry that there is
  expect((await act("retry", undefined, other)).body.id).toBe(retried.id);
});

test("a timer of one year fits into the maximum lifetime of a run", async () => {
  const source = workflowSource(`await ctx.sleep("365d")`);
  const workflow = await w.home.register(source, { limits: { run_ttl_s: 400 * 86_400 } });
  const run = await w.home.start(workflow);
  const { waiting_on, expires_at } = await w.home.until(run, (record) => record.waiting_on.length > 0);
  const days = (Date.parse(waiting_on[0].until) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(364.9);
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.parse(waiting_on[0].until));
  await w.home.cancel(run);
});
