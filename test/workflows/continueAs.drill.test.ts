import { describe, expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import { ForgetRun } from "#events/run.ts";
import { openWorkflows, SOON, workflowSource } from "./harness.ts";

/* Runs that continue as other runs. Each run of a chain lives for at least a second. */

const w = await openWorkflows({ SCHEDULE_SECONDS: "1" });
const { home } = w;

/** Continues until `args.n` is `args.to`, and then waits for a person if `args.waits` is set. */
const COUNTING = workflowSource(
  `if (args.n < args.to) return ctx.continueAs({ ...args, n: args.n + 1 });
if (args.waits) await ctx.awaitApproval("end", { title: "End?" });
return { n: args.n };`,
  "",
  { args: { type: "object", properties: { n: { type: "integer", maximum: 50 } }, required: ["n"] } },
);

/** The runs of a chain, oldest first. */
async function chainOf(run: string): Promise<any[]> {
  const chain = [await home.read(run)];
  while (chain.at(-1).continued_as !== null) {
    const next = chain.at(-1).continued_as;
    await expect.poll(async () => (await home.owner("GET", `/workflows/runs/${next}`)).status, SOON).toBe(200);
    chain.push(await home.read(next));
  }
  return chain;
}
const untilNewest = async (run: string, isReached: (record: any) => boolean): Promise<any> => {
  let newest: any;
  await expect
    .poll(
      async () => {
        newest = (await chainOf(run)).at(-1);
        return isReached(newest);
      },
      { ...SOON, timeout: SOON.timeout * 2 },
    )
    .toBe(true);
  return newest;
};
const isOver = ({ status }: any) => ["completed", "failed", "cancelled"].includes(status);
const isWaiting = ({ waiting_on }: any) => waiting_on.some(({ type }: any) => type === "approval");
/** Destroys a run as its retention does. */
async function destroy(run_id: string): Promise<void> {
  const { bus, log } = w.resources;
  const { organization_id } = home;
  const stream = streamName("run", run_id);
  const given = { stream, organization_id, request_id: "test", timeout_ms: 15_000, data: { run_id, by_rule: true } };
  expect((await bus.sender(log).send(newCommand(ForgetRun.type, given))).rejection).toBeUndefined();
  await expect.poll(async () => (await home.owner("GET", `/workflows/runs/${run_id}`)).status, SOON).toBe(404);
}
const typesOf = async (run: string) => (await w.resources.log.read(streamName("run", run))).map(({ type }) => type);

describe("continueAs", () => {
  test("ends the run, and a new run continues with the new arguments and an empty history", async () => {
    const workflow = await home.register(COUNTING);
    const began = Date.now();
    const run = await home.start(workflow, { n: 1, to: 3 });
    const last = await untilNewest(run, isOver);
    const chain = await chainOf(run);
    expect(chain.map(({ status, args }) => [status, args.n])).toEqual([
      ["continued", 1],
      ["continued", 2],
      ["completed", 3],
    ]);
    expect(last.result).toEqual({ n: 3 });
    expect(chain.map(({ continued_from }) => continued_from)).toEqual([
      null,
      { run_id: run, first_run_id: run, nth: 2 },
      { run_id: chain[1].id, first_run_id: run, nth: 3 },
    ]);
    expect(chain[1].parent).toEqual({ run_id: run, kind: "continued", step: null });
    expect(chain.map(({ started_by }) => started_by)).toEqual(Array(3).fill(chain[0].started_by));
    // two of its runs lived for a second each
    expect(Date.now() - began).toBeGreaterThan(2_000);
    expect((await typesOf(run)).filter((type) => type === "RunContinued")).toEqual(["RunContinued"]);
    const listed = await home.made(home.owner("GET", `/workflows/runs?status=continued&workflow_id=${workflow.id}`));
    expect(listed.total).toBe(2);
  });

  test("uses the newest version of the workflow", async () => {
    const workflow = await home.register(
      workflowSource('await ctx.awaitApproval("go", { title: "Go on?" });\nreturn ctx.continueAs({ n: 2 });'),
    );
    const run = await home.start(workflow);
    const [approval] = await home.pending(run);
    const { definition } = workflow;
    await home.made(
      home.owner("PATCH", `/definitions/${definition.id}`, {
        source: workflowSource("return { newer: args.n };"),
      }),
    );
    await home.made(home.owner("PATCH", `/workflows/${workflow.id}`, { definition_version: null }));
    await home.decide(approval);
    const last = await untilNewest(run, isOver);
    expect([last.definition_version, last.result]).toEqual([2, { newer: 2 }]);
  });

  test.each([
    ["that do not fit meta.args", { n: 51 }, "invalid_args", /^continueAs: args\/n/],
    ["that are no object", [1], "run_error", /the arguments must be an object/],
  ])("fails the run for arguments %s, with the position of the call", async (_, args, code, message) => {
    const source = COUNTING.replace("{ ...args, n: args.n + 1 }", `JSON.parse('${JSON.stringify(args)}')`);
    const run = await home.start(await home.register(source), { n: 1, to: 2 });
    const { status, error, error_info } = await home.untilOver(run);
    expect([status, error_info.code]).toEqual(["failed", code]);
    expect(error).toMatch(message);
    expect([typeof error_info.line, typeof error_info.column]).toEqual(["number", "number"]);
  });

  test("is refused with its position on save if its arguments are not an object", async () => {
    const answer = await home.owner("POST", "/definitions", {
      type: "workflow",
      name: "wrong",
      source: workflowSource("return ctx.continueAs([1]);"),
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_definition"]);
    expect(answer.body.error.message).toMatch(/continueAs: the arguments must be an object/);
  });
});

describe("a chain of runs counts as one for others", () => {
  test("a wait for the first run returns at the end of the last one", async () => {
    const counting = await home.register(COUNTING);
    const waits = await home.register(workflowSource("return ctx.waitForRun(args.run);"));
    const first = await home.start(counting, { n: 1, to: 3, waits: true });
    const early = await home.start(waits, { run: first });
    const last = await untilNewest(first, isWaiting);
    // the first run is over by now, and another one has gone on for it
    const late = await home.start(waits, { run: first });
    await home.until(late, ({ waiting_on }) => waiting_on.length === 1);
    await home.decide((await home.pending(last.id))[0]);
    const afterwards = await home.start(waits, { run: first });
    for (const run of [early, late, afterwards]) {
      const { result } = await home.untilOver(run);
      expect(result).toEqual({ run_id: last.id, status: "completed", result: { n: 3 }, error: null });
    }
    expect((await typesOf(early)).filter((type) => type === "WaitAnswered")).toHaveLength(1);
  });

  test("a continued child run reports its end to its parent, and is cancelled with it", async () => {
    const counting = await home.register(COUNTING);
    const parent = await home.register(
      workflowSource("return ctx.waitForRun(await ctx.startRun(args.workflow, args.args));"),
    );
    const ends = await home.start(parent, { workflow: counting.id, args: { n: 1, to: 2 } });
    expect((await home.untilOver(ends)).result).toMatchObject({ status: "completed", result: { n: 2 } });
    const cancelled = await home.start(parent, { workflow: counting.id, args: { n: 1, to: 2, waits: true } });
    const { child_runs } = await home.until(cancelled, ({ child_runs: [child] }) => child?.started);
    const newest = await untilNewest(child_runs[0].run_id, isWaiting);
    await home.cancel(cancelled);
    expect((await home.until(newest.id, isOver)).cancelled_by).toEqual({ type: "run", id: cancelled });
  });

  test("child runs that end with their parent end with the chain, and others continue", async () => {
    const waiting = await home.register(workflowSource(`return ctx.awaitApproval("end", { title: "End?" });`));
    const parent = await home.register(
      workflowSource(
        `if (args.n > 1) return ctx.awaitApproval("stop", { title: "Stop?" });
await ctx.startRun(args.workflow, {});
await ctx.startRun(args.workflow, {}, { key: "2", on_parent_end: "leave" });
return ctx.continueAs({ ...args, n: 2 });`,
      ),
    );
    const run = await home.start(parent, { n: 1, workflow: waiting.id });
    const newest = await untilNewest(run, isWaiting);
    const [ends, stays] = (await home.read(run)).child_runs;
    expect((await home.read(ends.run_id)).status).toBe("running");
    await home.cancel(run);
    expect((await home.until(ends.run_id, isOver)).cancelled_by).toEqual({ type: "run", id: newest.id });
    expect((await home.read(stays.run_id)).status).toBe("running");
  });

  test("cancelling the first run cancels the newest one", async () => {
    const run = await home.start(await home.register(COUNTING), { n: 1, to: 2, waits: true });
    const newest = await untilNewest(run, isWaiting);
    const answer = await home.owner("POST", `/workflows/runs/${run}/cancel`, { reason: "enough" });
    expect([answer.status, answer.body.id, answer.body.status]).toEqual([200, newest.id, "cancelled"]);
    expect((await home.read(run)).status).toBe("continued");
    expect((await home.owner("POST", `/workflows/runs/${run}/retry`)).body.error.code).toBe("run_continued");
  });

  test("a hook's poll returns the newest run under the id of the first", async () => {
    const workflow = await home.register(COUNTING);
    const trigger = await home.made(home.owner("POST", `/workflows/${workflow.id}/triggers`, { name: "hook" }));
    const headers = { authorization: `Bearer ${trigger.secret}`, "content-type": "application/json" };
    const hook = `${w.url}/api/workflows/hooks/${trigger.hook_token}`;
    const started = await fetch(hook, { method: "POST", headers, body: JSON.stringify({ n: 1, to: 2 }) });
    const { run_id } = (await started.json()) as { run_id: string };
    const poll = async () => (await fetch(`${hook}/runs/${run_id}`, { headers })).json() as Promise<any>;
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        const { status } = await poll();
        seen.add(status);
        return status;
      }, SOON)
      .toBe("completed");
    expect(await poll()).toMatchObject({ run_id, result: { n: 2 }, error: null });
    expect([...seen].filter((status) => !["pending", "running", "completed"].includes(status))).toEqual([]);
  });

  test("a hook's poll, a wait and a schedule find the chain after its first run was destroyed", async () => {
    const workflow = await home.register(COUNTING);
    const path = `/workflows/${workflow.id}/triggers`;
    const trigger = await home.made(home.owner("POST", path, { name: "hook" }));
    const headers = { authorization: `Bearer ${trigger.secret}`, "content-type": "application/json" };
    const hook = `${w.url}/api/workflows/hooks/${trigger.hook_token}`;
    const body = JSON.stringify({ n: 1, to: 2, waits: true });
    const { run_id } = (await (await fetch(hook, { method: "POST", headers, body })).json()) as { run_id: string };
    const args = { n: 1, to: 2, waits: true };
    const scheduled = await home.made(home.owner("POST", path, { name: "often", schedule: { every: 1 }, args }));
    const startedBySchedule = async (): Promise<any[]> =>
      (await home.made(home.owner("GET", `/workflows/runs?trigger_id=${scheduled.id}`))).data;
    await expect.poll(async () => (await startedBySchedule()).length, SOON).toBe(2);
    const newest = await untilNewest(run_id, isWaiting);
    const [second, first] = await startedBySchedule();
    await untilNewest(first.id, isWaiting);
    for (const run of [run_id, first.id]) await destroy(run);

    const poll = async () => (await fetch(`${hook}/runs/${run_id}`, { headers })).json() as Promise<any>;
    expect(await poll()).toMatchObject({ run_id, status: "running" });
    const waiting = await home.start(await home.register(workflowSource("return ctx.waitForRun(args.run);")), {
      run: run_id,
    });
    await home.until(waiting, ({ waiting_on }) => waiting_on.length === 1);
    const fired = async () =>
      (await home.made(home.owner("GET", path))).data.find(({ id }: any) => id === scheduled.id).last_fired;
    const before = (await fired()).due_at;
    await expect.poll(async () => (await fired()).due_at > before && (await fired()).outcome, SOON).toBe("skipped");
    expect((await startedBySchedule()).map(({ id }) => id)).toEqual([second.id]);
    await home.made(home.owner("DELETE", `${path}/${scheduled.id}`));
    await home.decide((await home.pending(newest.id))[0]);
    expect((await home.untilOver(waiting)).result).toMatchObject({ run_id: newest.id, status: "completed" });
    expect(await poll()).toMatchObject({ run_id, status: "completed", result: { n: 2 } });
  });

  test("it keeps its concurrency slot until the last run ends", async () => {
    const workflow = await home.register(COUNTING, { concurrency: { max_runs: 1, key: null } });
    const run = await home.start(workflow, { n: 1, to: 2, waits: true });
    const newest = await untilNewest(run, isWaiting);
    const refused = await home.owner("POST", `/workflows/${workflow.id}/runs`, { args: { n: 1, to: 1 } });
    expect([refused.status, refused.body.error.code]).toEqual([429, "too_many_live_runs"]);
    await home.decide((await home.pending(newest.id))[0]);
    await home.until(newest.id, isOver);
    const next = await home.start(workflow, { n: 1, to: 1 });
    expect((await home.untilOver(next)).status).toBe("completed");
  });

  test("a schedule does not start a run while a continuation of the previous one is live", async () => {
    const workflow = await home.register(COUNTING);
    const body = { name: "often", schedule: { every: 1 }, args: { n: 1, to: 2, waits: true } };
    const path = `/workflows/${workflow.id}/triggers`;
    const trigger = await home.made(home.owner("POST", path, body));
    const runs = async () => {
      const { data } = await home.made(home.owner("GET", `/workflows/runs?trigger_id=${trigger.id}`));
      return data.map(({ status }: any) => status);
    };
    await expect.poll(runs, SOON).toEqual(["running", "continued"]);
    const fired = async () =>
      (await home.made(home.owner("GET", path))).data.find(({ id }: any) => id === trigger.id).last_fired;
    const before = (await fired()).due_at;
    await expect.poll(async () => (await fired()).due_at > before && (await fired()).outcome, SOON).toBe("skipped");
    expect(await runs()).toEqual(["running", "continued"]);
    await home.made(home.owner("DELETE", `${path}/${trigger.id}`));
  });
});
