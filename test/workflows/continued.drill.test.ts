import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { idempotencyKey } from "#events/ids.ts";
import { plainKey } from "../doubles/plainRunner.ts";
import { UNKNOWN, code, counters, openCoordinators, openWorkflows, resultOf, workflowSource } from "./harness.ts";

/* Retries and forks: new runs that inherit the answers of an ended run. */

const w = await openWorkflows();
const { home } = w;

/** `reserve`, an approval and a sleep, then `pay`, which fails while the site refuses it. */
const SOURCE = `import { defineStep } from "svc:workflow";
const post = async ({ url }, ctx) => {
  const answer = await ctx.fetch(url, { method: "POST", body: "{}" });
  if (!answer.ok) throw new Error("no money");
  return answer.json();
};
export const steps = { reserve: post, pay: defineStep({ retries: 0 }, post) };
export async function run(ctx, { url }) {
  const began = ctx.now("began");
  const seen = { receipt: ctx.uuid("receipt"), run: ctx.runId, at: Date.now(), chance: Math.random() };
  const reserved = await ctx.runStep("reserve", { url: url + "/reserve", ...seen });
  const { approved, decided_by } = await ctx.awaitApproval("boss", { title: "Pay?" });
  await ctx.sleep(1);
  const paid = await ctx.runStep("pay", { url: url + "/pay", nth: reserved.nth });
  return { began, reserved, approved, paid, by: decided_by.id };
}`;

let names = 0;
const act = (run: string, what: "retry" | "fork", body?: unknown, by = home.owner) =>
  by("POST", `/workflows/runs/${run}/${what}`, body);
const requestsTo = (path: string) => w.site.requests.filter((request) => request.path === path);

async function failed() {
  const path = `/shop${++names}`;
  const workflow = await home.register(SOURCE, w.egress);
  w.site.fail(`${path}/pay`);
  const run = await home.start(workflow, { url: `${w.site.url}${path}` });
  const [approval] = await home.pending(run);
  await home.decide(approval);
  const record = await home.untilOver(run);
  expect([record.status, record.error]).toEqual(["failed", "no money"]);
  return { run, path, workflow, record };
}

describe("a retry", () => {
  test("continues at the failed step, keeps every answer, and has the same idempotency keys", async () => {
    const { run, path, record } = await failed();
    w.site.repair(`${path}/pay`);
    const answer = await act(run, "retry");
    expect([answer.status, answer.body.parent]).toEqual([202, { run_id: run, kind: "retry", step: "pay" }]);
    const { id } = answer.body;
    const retried = await home.untilOver(id);
    expect([retried.status, retried.result.approved, retried.result.reserved.nth]).toEqual(["completed", true, 1]);
    expect(retried.result.began).toBeLessThan(Date.parse(record.completed_at));
    expect(requestsTo(`${path}/reserve`).length).toBe(1);
    const keys = requestsTo(`${path}/pay`).map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    const [reserve, pay] = retried.steps;
    expect([reserve.name, reserve.inherited, reserve.status, reserve.attempts]).toEqual([
      "reserve",
      true,
      "completed",
      [],
    ]);
    expect([pay.name, pay.inherited, pay.attempts.length]).toEqual(["pay", false, 1]);
    expect(pay.idempotency_key).toBe(idempotencyKey(run, pay.key));
    expect(retried.warnings).toEqual([]);
    expect(await home.approvals(id)).toEqual([]);
    // the parent stays as it is, and repeating the retry changes nothing
    expect((await home.read(run)).status).toBe("failed");
    expect((await act(run, "retry")).body.id).toBe(id);
    const listed = await home.owner("GET", `/workflows/runs?parent_id=${run}`);
    expect(listed.body.data.map((row: any) => row.id)).toEqual([id]);
  });

  test("of a retry that failed continues the chain", async () => {
    const { run, path } = await failed();
    const second = (await act(run, "retry")).body.id;
    expect((await home.untilOver(second)).status).toBe("failed");
    w.site.repair(`${path}/pay`);
    const third = (await act(second, "retry")).body.id;
    const record = await home.untilOver(third);
    expect([record.status, record.parent.run_id, record.counts.steps]).toEqual(["completed", second, 2]);
    expect(requestsTo(`${path}/reserve`).length).toBe(1);
    expect(new Set(requestsTo(`${path}/pay`).map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  test("of a cancelled run requests pending calls again", async () => {
    const run = await home.start(await home.register());
    await home.pending(run);
    await home.cancel(run);
    const { id } = (await act(run, "retry")).body;
    const [approval] = await home.pending(id);
    await home.decide(approval);
    expect((await home.untilOver(id)).status).toBe("completed");
  });

  test("is refused for a live and for a completed run, for a viewer, and for another organization", async () => {
    const run = await home.start(await home.register());
    const [approval] = await home.pending(run);
    expect(code(await act(run, "retry"))).toEqual([409, "run_still_live"]);
    expect(code(await act(run, "fork", {}))).toEqual([409, "run_still_live"]);
    await home.decide(approval);
    await home.untilOver(run);
    expect(code(await act(run, "retry"))).toEqual([409, "run_completed"]);
    const viewer = await home.member("viewer");
    expect(code(await act(run, "retry", undefined, viewer.call))).toEqual([403, "forbidden"]);
    const other = await w.join("Other");
    expect(code(await act(run, "retry", undefined, other.owner))).toEqual([404, "run_not_found"]);
    expect(code(await act(UNKNOWN, "retry"))).toEqual([404, "run_not_found"]);
  });

  test("copies results that are too long for a command", async () => {
    const source = workflowSource(
      `const all = await ctx.runStepMany("big", [1, 2, 3, 4, 5].map((n) => ({ n, url: args.url })));
       return all.map((text) => text.length + text[0]).join() + (await ctx.runStep("last", { url: args.url }));`,
      `big: async ({ n, url }, ctx) => { await ctx.fetch(url + "/big"); return String(n).repeat(200_000); },
       last: async ({ url }, ctx) => { if (!(await ctx.fetch(url + "/last")).ok) throw new Error("not yet"); return "!"; },`,
    );
    const path = `/shop${++names}`;
    w.site.fail(`${path}/last`);
    const run = await home.start(await home.register(source, w.egress), { url: w.site.url + path });
    await home.until(run, ({ waiting_on }) => waiting_on.some((one: any) => one.next_attempt_at !== null));
    await home.cancel(run);
    await home.until(run, ({ steps }) => steps.every(({ status }: any) => status !== "running"));
    w.site.repair(`${path}/last`);
    const record = await home.untilOver((await act(run, "retry")).body.id);
    expect(record.result).toBe("2000001,2000002,2000003,2000004,2000005!");
    expect([requestsTo(`${path}/big`).length, record.steps.filter((step: any) => step.inherited).length]).toEqual([
      5, 5,
    ]);
  });
});

describe("a fork", () => {
  const stepOf = (record: any, name: string) => record.steps.find((step: any) => step.name === name).id;

  test("repeats its step and all later calls, with new idempotency keys", async () => {
    const { run, path, record } = await failed();
    w.site.repair(`${path}/pay`);
    const { status, body } = await act(run, "fork", { step_id: stepOf(record, "pay") });
    expect([status, body.parent]).toEqual([202, { run_id: run, kind: "fork", step: "pay" }]);
    const forked = await home.untilOver(body.id);
    expect([forked.status, requestsTo(`${path}/reserve`).length]).toEqual(["completed", 1]);
    expect(new Set(requestsTo(`${path}/pay`).map(({ headers }) => headers["idempotency-key"])).size).toBe(2);
    expect(await home.approvals(body.id)).toEqual([]);
  });

  test("with another result uses it, and asks people again", async () => {
    const { run, path, record } = await failed();
    w.site.repair(`${path}/pay`);
    const { body } = await act(run, "fork", { step_id: stepOf(record, "reserve"), result: { nth: 99 } });
    const [approval] = await home.pending(body.id);
    await home.decide(approval);
    const forked = await home.untilOver(body.id);
    expect([forked.result.reserved, requestsTo(`${path}/reserve`).length]).toEqual([{ nth: 99 }, 1]);
    expect(forked.steps.map((step: any) => [step.name, step.inherited])).toEqual([
      ["reserve", true],
      ["pay", false],
    ]);
  });

  test("with another version executes the new code", async () => {
    const { run, path, record, workflow } = await failed();
    w.site.repair(`${path}/pay`);
    const source = SOURCE.replace("return { began", "return { fixed: true };\n return { began");
    await home.made(home.owner("PATCH", `/definitions/${workflow.definition.id}`, { source }));
    expect(code(await act(run, "fork", { definition_version: 9 }))).toEqual([400, "unknown_version"]);
    const { body } = await act(run, "fork", { step_id: stepOf(record, "pay"), definition_version: null });
    expect(body.definition_version).toBe(2);
    const [approval] = await home.pending(body.id);
    await home.decide(approval);
    expect((await home.untilOver(body.id)).result).toEqual({ fixed: true });
  });

  test("with other arguments is validated like a start, and requires a builder", async () => {
    const source = workflowSource("return ctx.runStep('say', args);", "say: async (args) => args", {
      args: { type: "object", properties: { n: { type: "number" } } },
    });
    const record = await home.run(source, { n: 1 });
    const forked = await home.untilOver((await act(record.id, "fork", { args: { n: 2 } })).body.id);
    expect([forked.args, forked.result]).toEqual([{ n: 2 }, { n: 2 }]);
    expect(code(await act(record.id, "fork", { args: { n: "two" } }))).toEqual([400, "invalid_args"]);
    expect(code(await act(record.id, "fork", { step_id: UNKNOWN }))).toEqual([400, "step_never_ran"]);
    expect(code(await act(record.id, "fork", { result: 1 }))).toEqual([400, "invalid_result"]);
    const approver = await home.member("approver");
    expect(code(await act(record.id, "fork", {}, approver.call))).toEqual([403, "forbidden"]);
  });
});

describe("many failed runs", () => {
  const change = (body: object, by = home.owner) => by("POST", "/workflows/runs/change", body);

  test("are counted in a dry run, then retried page by page, each once", async () => {
    const path = `/shop${++names}`;
    w.site.fail(`${path}/go`);
    const source = `import { defineStep } from "svc:workflow";\n${workflowSource(
      "return ctx.runStep('go', args);",
      `go: defineStep({ retries: 0 }, async ({ url }, ctx) => { if (!(await ctx.fetch(url)).ok) throw new Error("down"); return "up"; }),`,
    )}`;
    const workflow = await home.register(source, w.egress);
    const runs: string[] = [];
    for (let n = 0; n < 5; n++) runs.push(await home.start(workflow, { n, url: `${w.site.url}${path}/go` }));
    for (const run of runs) expect((await home.untilOver(run)).status).toBe("failed");
    const filter = { status: "failed", workflow_id: workflow.id, q: "DOWN" };
    const dry = await change({ action: "retry", filter });
    expect(dry.body).toMatchObject({ dry_run: true, remaining: 0, next_cursor: null });
    expect(dry.body.data.map(({ run_id }: any) => run_id).toSorted()).toEqual(runs.toSorted());
    w.site.repair(`${path}/go`);
    const done: any[] = [];
    let cursor: string | null = null;
    do {
      const { body }: any = await change({ action: "retry", filter, dry_run: false, limit: 2, cursor });
      done.push(...body.data);
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(done.map(({ run_id }) => run_id).toSorted()).toEqual(runs.toSorted());
    for (const { new_run_id } of done) expect((await home.untilOver(new_run_id)).result).toBe("up");
    const again = await change({ action: "retry", filter, dry_run: false });
    expect([again.body.data, again.body.remaining]).toEqual([[], 0]);
  });

  test("can be cancelled, and an invalid status, an invalid cursor and a viewer are refused", async () => {
    const workflow = await home.register();
    const runs = [await home.start(workflow), await home.start(workflow)];
    for (const run of runs) await home.pending(run);
    const filter = { status: "running", workflow_id: workflow.id };
    const { body } = await change({ action: "cancel", filter, dry_run: false, reason: "enough" });
    expect(body.data.map(({ error }: any) => error)).toEqual([null, null]);
    for (const run of runs) expect((await home.read(run)).cancel_reason).toBe("enough");
    expect(code(await change({ action: "retry", filter }))).toEqual([400, "invalid_status"]);
    expect(code(await change({ action: "cancel", filter, cursor: "x" }))).toEqual([400, "invalid_cursor"]);
    const viewer = await home.member("viewer");
    expect(code(await change({ action: "cancel", filter }, viewer.call))).toEqual([403, "forbidden"]);
  });
});

test("a retry whose process died is taken over with the inherited answers", async () => {
  const { counted, count } = counters();
  const bench = await openCoordinators({
    two: {
      run: async (ctx) => ctx.complete([await ctx.runStep("first", 1), await ctx.runStep("second", 2)]),
      steps: { first: () => count("first"), second: () => count("second") },
    },
  });
  const parent_id = await bench.start("two");
  await bench.until(parent_id, "RunCompleted");
  counted.clear();
  const at = new Date().toISOString();
  const call = {
    key: plainKey("step", "first", 1),
    kind: "step",
    name: "first",
    batch: null,
    index: null,
    args: "1",
    answer: { json: '"kept"' },
    answered_at: at,
  };
  const parent = {
    run_id: parent_id,
    kind: "retry",
    step: "second",
    by: { type: "person", id: "u1" },
    seen_as: { run_id: parent_id, created_at: at },
    effects_of: parent_id,
    steps: 1,
  };
  const more = { parent, inherited: [{ json: JSON.stringify([call]) }] };
  const run = await bench.start("two", {}, { by: bench.deadHandler(), more });
  await bench.all[0]!.sweep.once();
  const events = await bench.until(run, "RunCompleted");
  expect(events[1]).toMatchObject({ type: "RunTaken", data: { reason: "lost" } });
  expect([resultOf(events), counted.get("first"), counted.get("second")]).toEqual([["kept", 1], undefined, 1]);
});

test("a group and an owner decide the guide's approval with two votes", async () => {
  const guide = readFileSync(new URL("../../docs/workflows.md", import.meta.url), "utf8");
  const blocks = guide.split("```ts\n").map((part) => part.split("```")[0]!);
  const snippet = blocks.find((block) => block.includes("required: 2"))!;
  const ann = await home.member("approver", "Ann");
  await home.made(home.owner("PUT", "/groups/finance", { members: [ann.id] }));
  const run = await home.start(await home.register(workflowSource(snippet)), { amount: 5 });
  const [approval] = await home.pending(run);
  expect((await home.decide(approval, { decision: "approve", comment: "paid" }, ann.call)).body.status).toBe("pending");
  await home.decide(approval);
  expect((await home.untilOver(run)).result).toEqual({ approved: true, comments: ["paid", null] });
});
