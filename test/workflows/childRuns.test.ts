import { describe, expect, test } from "vitest";
import { openWorkflows, SOON, UNKNOWN, WAITING, workflowSource } from "./harness.ts";

/* Runs that start other runs, and wait for them. */

const w = await openWorkflows();
const { home } = w;

const DOUBLE = workflowSource("return { doubled: args.n * 2 };", "", {
  args: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
});
/** A workflow that starts a run of `args.workflow` as `child` and then executes `rest`. */
const starting = (rest: string, options = "{}") =>
  workflowSource(`const child = await ctx.startRun(args.workflow, args.args, ${options});\n${rest}`);
const WAIT = "return ctx.waitForRun(child);";

describe("startRun and waitForRun", () => {
  test("start a run once, by the id or name of its workflow, and return its result", async () => {
    const child = await home.register(DOUBLE, {}, { name: "Doubles" });
    const parent = await home.register(starting(WAIT));
    for (const workflow of [child.id, "Doubles"]) {
      const run = await home.start(parent, { workflow, args: { n: 4 } });
      const record = await home.untilOver(run);
      expect([record.status, record.error]).toEqual(["completed", null]);
      const [{ run_id }] = record.child_runs;
      expect(record.child_runs).toEqual([{ run_id, workflow, on_parent_end: "cancel", started: true }]);
      expect(record.result).toEqual({ run_id, status: "completed", result: { doubled: 8 }, error: null });
      const started = await home.read(run_id);
      expect([started.started_by, started.args]).toEqual([{ type: "run", id: run, trigger_id: null }, { n: 4 }]);
      const listed = await home.made(home.owner("GET", `/workflows/runs?starter_id=${run}`));
      expect(listed.data.map(({ id }: any) => id)).toEqual([run_id]);
    }
  });

  test("wait without a worker until the run ends, and the wait is shown", async () => {
    const child = await home.register(WAITING);
    const run = await home.start(await home.register(starting(WAIT)), { workflow: child.id });
    const waiting = await home.until(run, ({ waiting_on }) => waiting_on.some(({ type }: any) => type === "run"));
    const [{ run_id }] = waiting.child_runs;
    expect(waiting.waiting_on).toMatchObject([{ type: "run", run_id, until: null }]);
    const head = async () => {
      const query = "select status, worker from log.streams where stream = $1";
      return (await w.resources.db.query(query, [`run-${run}`]))[0];
    };
    await expect.poll(head, SOON).toEqual({ status: "waiting", worker: null });
    await home.decide((await home.pending(run_id))[0]);
    const { result } = await home.untilOver(run);
    expect(result).toEqual({ run_id, status: "completed", result: null, error: null });
  });

  test("return the failure of a run, or that it was cancelled", async () => {
    const failing = await home.register(workflowSource('throw new Error("no stock");'));
    const parent = await home.register(starting(WAIT));
    const failed = await home.untilOver(await home.start(parent, { workflow: failing.id }));
    expect(failed.result).toMatchObject({ status: "failed", result: null, error: "no stock" });
    const run = await home.start(parent, { workflow: (await home.register(WAITING)).id });
    const { child_runs } = await home.until(run, ({ child_runs: [child] }) => child?.started);
    await home.cancel(child_runs[0].run_id);
    expect((await home.untilOver(run)).result).toMatchObject({ status: "cancelled", result: null });
  });

  test("time out without affecting the run", async () => {
    const child = await home.register(WAITING);
    const parent = await home.register(starting("return ctx.waitForRun(child, { timeout: 50 });"));
    const { result, child_runs } = await home.untilOver(await home.start(parent, { workflow: child.id }));
    const [{ run_id }] = child_runs;
    expect(result).toEqual({ run_id, status: "timed_out", result: null, error: null });
    expect((await home.read(run_id)).status).toBe("running");
    await home.cancel(run_id);
  });

  test("wait for a run with any starter, live or ended", async () => {
    const waits = await home.register(workflowSource("return ctx.waitForRun(args.run);"));
    const other = await home.start(await home.register(WAITING));
    const runs = [await home.start(waits, { run: other }), await home.start(waits, { run: other.toUpperCase() })];
    for (const run of runs) await home.until(run, ({ waiting_on }) => waiting_on.length === 1);
    await home.decide((await home.pending(other))[0]);
    for (const run of [...runs, await home.start(waits, { run: other })])
      expect((await home.untilOver(run)).result).toMatchObject({ run_id: other, status: "completed" });
  });

  test("return a result of up to 1 MiB", async () => {
    const child = await home.register(workflowSource('return "x".repeat(1_000_000);'));
    const parent = await home.register(
      starting(`const { result } = await ctx.waitForRun(child);\nreturn result.length;`),
    );
    expect((await home.untilOver(await home.start(parent, { workflow: child.id }))).result).toBe(1_000_000);
  });

  test("start one run for equal calls, and one for each key", async () => {
    const child = await home.register(DOUBLE);
    const source = workflowSource(`const start = (key) => ctx.startRun(args.workflow, { n: 1 }, { key });
return Promise.all([start(), start(), start("a"), start("b")]);`);
    const { result, child_runs } = await home.untilOver(
      await home.start(await home.register(source), { workflow: child.id }),
    );
    const ids = result.map(({ run_id }: any) => run_id);
    expect([ids[0] === ids[1], new Set(ids).size, child_runs.length]).toEqual([true, 3, 3]);
  });
});

describe("the end of a run with child runs", () => {
  const started = ({ child_runs }: any) => child_runs.length > 0 && child_runs.every((child: any) => child.started);
  test.each([
    ["cancel", "cancelled"],
    ["leave", "running"],
  ])("with on_parent_end %s leaves them %s", async (option, status) => {
    const child = await home.register(WAITING);
    const parent = await home.register(starting(WAIT, `{ on_parent_end: "${option}" }`));
    const run = await home.start(parent, { workflow: child.id });
    const { child_runs } = await home.until(run, started);
    await home.cancel(run);
    const [{ run_id }] = child_runs;
    const record = await home.until(run_id, (one) => one.status === status);
    if (status === "running") return void (await home.cancel(run_id));
    expect(record.cancelled_by).toEqual({ type: "run", id: run });
  });

  test("cancels them on a failure, including their own child runs, but not on completion", async () => {
    const leaf = await home.register(WAITING);
    const middle = await home.register(starting(WAIT));
    const top = await home.register(
      starting('await ctx.awaitApproval("go", { title: "Go?" });\nthrow new Error("no");'),
    );
    const run = await home.start(top, { workflow: middle.id, args: { workflow: leaf.id } });
    const [{ run_id: below }] = (await home.until(run, started)).child_runs;
    const [{ run_id: lowest }] = (await home.until(below, started)).child_runs;
    await home.decide((await home.pending(run))[0]);
    expect((await home.untilOver(run)).error).toBe("no");
    for (const id of [below, lowest]) expect((await home.untilOver(id)).status).toBe("cancelled");

    const done = await home.untilOver(
      await home.start(await home.register(starting("return child;")), { workflow: leaf.id }),
    );
    expect(done.status).toBe("completed");
    expect((await home.read(done.result.run_id)).status).toMatch(/pending|running/);
    await home.cancel(done.result.run_id);
  });
});

describe("a clear error refuses", () => {
  const refused = async (args: object, envelope: object = {}, source = starting(WAIT)) => {
    const { status, error_info, error } = await home.untilOver(
      await home.start(await home.register(source, envelope), args),
    );
    expect(status).toBe("failed");
    return [error_info.code, error];
  };

  test("a start of a workflow that is unknown, not allowed, disabled or called with invalid arguments", async () => {
    const child = await home.register(DOUBLE, { concurrency: { max_runs: 1, key: null } });
    const args = { n: 1 };
    expect((await refused({ workflow: UNKNOWN, args }))[0]).toBe("workflow_not_found");
    expect((await refused({ workflow: "No such name", args }))[0]).toBe("workflow_not_found");
    expect((await refused({ workflow: child.id, args }, { workflows: [UNKNOWN] }))[0]).toBe("workflow_not_allowed");
    expect(await refused({ workflow: child.id, args: {} })).toEqual([
      "invalid_args",
      expect.stringContaining("startRun: args"),
    ]);
    await home.edit(child, { enabled: false });
    expect((await refused({ workflow: child.id, args }))[0]).toBe("workflow_disabled");
    expect((await refused({ workflow: child.id, args: 7 }))[1]).toContain("must be an object");
  });

  test("with the place of the call", async () => {
    const infoOf = async (body: string) => {
      const run = await home.start(await home.register(workflowSource(body)), { id: UNKNOWN });
      return (await home.untilOver(run)).error_info;
    };
    const column = expect.any(Number);
    const started = await infoOf("const { id } = args;\nreturn ctx.startRun(id, {});");
    expect(started).toMatchObject({ code: "workflow_not_found", line: 5, column });
    expect(await infoOf("return ctx.waitForRun(args.id);")).toMatchObject({ code: "run_not_found", line: 4, column });
  });

  test("a start above the workflow's limit of live runs", async () => {
    const child = await home.register(WAITING, { concurrency: { max_runs: 1, key: null } });
    const taken = await home.start(child);
    expect((await refused({ workflow: child.id }))[0]).toBe("too_many_live_runs");
    await home.cancel(taken);
  });

  test("the eleventh run in a chain of runs that start themselves", async () => {
    const name = `itself ${Date.now()}`;
    const source = workflowSource(`const child = await ctx.startRun(args.workflow, { workflow: args.workflow });
const { error } = await ctx.waitForRun(child);
if (error) throw new Error(error);`);
    const run = await home.start(await home.register(source, {}, { name }), { workflow: name });
    const { status, error } = await home.untilOver(run, SOON.timeout * 3);
    expect([status, error]).toEqual(["failed", expect.stringContaining("10 runs in a row")]);
  });

  test("a wait for an unknown run, a run of another organization, the run itself, or no run", async () => {
    const source = workflowSource("return ctx.waitForRun(args.run);");
    const other = await w.join("Elsewhere");
    const foreign = await other.start(await other.register(WAITING));
    for (const run of [UNKNOWN, foreign]) expect((await refused({ run }, {}, source))[0]).toBe("run_not_found");
    expect((await refused({ run: "x" }, {}, source))[1]).toContain("the id of a run");
    const own = await refused({}, {}, workflowSource("return ctx.waitForRun(ctx.runId);"));
    expect(own).toEqual(["run_not_found", "waitForRun: a run cannot wait for its own end."]);
    await other.cancel(foreign);
  });

  test("a workflow or run of another project", async () => {
    const [a, b] = [await home.project("A"), await home.project("B")];
    const child = await home.register(WAITING, {}, { project_id: b.id });
    const start = async (source: string, args: object) => {
      const parent = await home.register(source, {}, { project_id: a.id });
      return (await home.untilOver(await home.start(parent, args))).error_info.code;
    };
    expect(await start(starting(WAIT), { workflow: child.id })).toBe("workflow_not_found");
    const run = await home.start(child);
    expect(await start(workflowSource("return ctx.waitForRun(args.run);"), { run })).toBe("run_not_found");
    await home.cancel(run);
  });
});

test("the person who started the first run cannot decide approvals of its child runs if that is excluded", async () => {
  const child = await home.register(
    `export async function run(ctx) { await ctx.awaitApproval("go", { title: "Go?", self_approval: false }); }`,
  );
  const run = await home.start(await home.register(starting(WAIT)), { workflow: child.id });
  const { child_runs } = await home.until(run, ({ child_runs: [one] }) => one?.started);
  const [approval] = await home.pending(child_runs[0].run_id);
  expect((await home.decide(approval)).body.error.code).toBe("approver_not_allowed");
  const approver = await home.member("approver");
  expect((await home.decide(approval, "approve", approver.call)).status).toBe(200);
  expect((await home.untilOver(run)).result.status).toBe("completed");
});

describe("a retry of a run with child runs", () => {
  const act = async (run: string) => (await home.made(home.owner("POST", `/workflows/runs/${run}/retry`))).id;

  test("keeps the completed child runs, and starts the cancelled one again", async () => {
    const [done, waits] = [await home.register(DOUBLE), await home.register(WAITING)];
    const source = workflowSource(`const first = await ctx.waitForRun(await ctx.startRun(args.done, { n: 3 }));
const second = await ctx.waitForRun(await ctx.startRun(args.waits));
return [first, second];`);
    const run = await home.start(await home.register(source), { done: done.id, waits: waits.id });
    const { child_runs } = await home.until(run, ({ child_runs: all }) => all.length === 2 && all[1].started);
    await home.cancel(run);
    expect((await home.untilOver(child_runs[1].run_id)).status).toBe("cancelled");
    const retried = await act(run);
    const again = await home.until(retried, ({ child_runs: all }) => all[0]?.started);
    expect(again.child_runs.length).toBe(1);
    await home.decide((await home.pending(again.child_runs[0].run_id))[0]);
    const { result } = await home.untilOver(retried);
    expect(result.map(({ run_id }: any) => run_id)).toEqual([child_runs[0].run_id, again.child_runs[0].run_id]);
    expect(result[0].result).toEqual({ doubled: 6 });
  });
});
