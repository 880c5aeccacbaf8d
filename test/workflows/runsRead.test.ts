import { describe, expect, onTestFinished, test } from "vitest";
import { StepFailure } from "#services/workflows/tick.ts";
import type { NewEvent } from "#events/define.ts";
import { newCommand } from "#events/envelope.ts";
import { idempotencyKey, newCommandId, newId, stepId, streamName } from "#events/ids.ts";
import { ForgetRun, RunCompleted, RunStarted, StepCompleted, StepsScheduled, StepStarted } from "#events/run.ts";
import { runCreated } from "../samples.ts";
import { UNKNOWN, code, gate, isOver, openFunctions } from "./harness.ts";

const held = gate();
const stage = await openFunctions({
  echo: { run: async (ctx, args) => ctx.complete(args) },
  charge: {
    run: async (ctx, { fail }) => {
      const charged = await ctx.runStep("charge", { amount: 5 });
      const many = await ctx.runStepMany("notify", ["a", "b"], 2);
      if (fail) await ctx.runStep("refuse", {});
      return { charged, many };
    },
    steps: {
      charge: ({ amount }) => ({ id: `c${amount}` }),
      notify: (item) => `told ${item}`,
      refuse: () => {
        throw new StepFailure("step_error", "declined", { final: true });
      },
    },
  },
  waits: {
    run: async (ctx) => {
      await Promise.all([
        ctx.runStep("slow"),
        ctx.runStep("again"),
        ctx.awaitApproval("boss", { title: "Go?" }),
        ctx.sleep(3_600_000),
      ]);
    },
    steps: {
      slow: () => held.opened,
      again: () => {
        throw new StepFailure("step_error", "busy", { retry_after_ms: 600_000 });
      },
    },
  },
  wide: {
    run: async (ctx, { many }) =>
      (
        await ctx.runStepMany(
          "big",
          Array.from({ length: many }, (_, n) => n),
          10,
        )
      ).length,
    steps: { big: () => "x".repeat(900_000) },
  },
  long: {
    run: async (ctx, { many }) => {
      const items = Array.from({ length: many }, (_, n) => n);
      return (await ctx.runStepMany("count", items, 50)).length;
    },
    steps: { count: (n) => n + 1 },
  },
});
const { home } = stage;

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** Puts events into the log as if the run had happened; no process works on it. */
async function append(stream: string, events: NewEvent[]) {
  for (let at = 0; at < events.length; at += 1_000) {
    const { kind } = await stage.resources.log.append({
      command: { id: newCommandId(), organization_id: home.organization_id, principal: "system", request_id: "test" },
      events: events.slice(at, at + 1_000).map((event, n) => ({ stream, version: at + n + 1, event })),
      heads: [{ stream, state: {}, state_version: 0, status: null, due_at: null, worker: null }],
      keys: {},
      erase: { things: [], streams: [] },
      forget: [],
    });
    expect(kind).toBe("committed");
  }
}
const read = (run: string, by = home.owner) => by("GET", `/workflows/runs/${run}`);

describe("the record of a run", () => {
  test("contains every step with its attempts, in the order of scheduling", async () => {
    const run = await home.start(await stage.register("charge"));
    const { steps, result, counts, completion } = await home.until(run, isOver);
    expect([result, completion]).toEqual([{ charged: { id: "c5" }, many: ["told a", "told b"] }, "implicit"]);
    expect(counts).toEqual({ steps: 3, attempts: 3, ticks: 3 });
    const keys = (await stage.events(run)).flatMap((event) =>
      event.type === "StepsScheduled" ? (event.data as { steps: { key: string }[] }).steps.map(({ key }) => key) : [],
    );
    const attempt = {
      n: 1,
      status: "completed",
      started_at: time,
      ended_at: time,
      error: null,
      error_info: null,
      logs: [],
      logs_truncated: false,
    };
    const succeeded = { status: "completed", error: null, error_info: null };
    const common = { ...succeeded, attempts: [attempt], scheduled_at: time, completed_at: time };
    const of = (n: number) => ({
      id: stepId(run, keys[n]!),
      key: keys[n],
      idempotency_key: idempotencyKey(run, keys[n]!),
      inherited: false,
      ...common,
    });
    expect(steps).toEqual([
      { ...of(0), name: "charge", batch: null, index: null, args: { amount: 5 }, result: { id: "c5" } },
      { ...of(1), name: "notify", batch: keys[1], index: 0, args: "a", result: "told a" },
      { ...of(2), name: "notify", batch: keys[1], index: 1, args: "b", result: "told b" },
    ]);
  });

  test("contains the reason of a failure and its step", async () => {
    const workflow = await stage.register("charge");
    const run = await home.start(workflow, { fail: true });
    const record = await home.until(run, isOver);
    const step = record.steps.at(-1);
    expect([record.status, record.result, record.error]).toEqual(["failed", null, "declined"]);
    const place = { line: null, column: null };
    expect(record.error_info).toEqual({ code: "step_error", ...place, step_id: step.id, step: "refuse", attempt: 1 });
    expect([step.status, step.error, step.result]).toEqual(["failed", "declined", null]);
    const { data } = (await home.owner("GET", `/workflows/${workflow.id}/runs`)).body;
    expect(data[0]).toMatchObject({
      error: "declined",
      error_info: { code: "step_error", step_id: step.id, step: "refuse" },
    });
  });

  test("contains everything that a live run waits for", async () => {
    onTestFinished(() => held.open());
    const run = await home.start(await stage.register("waits"));
    const record = await home.until(run, ({ steps }) => steps.some(({ status }: any) => status === "retry_wait"));
    const [slow, again] = record.steps;
    const { data } = (await home.owner("GET", `/workflows/runs/${run}/approvals`)).body;
    expect([record.status, slow.status, again.attempts[0]]).toEqual([
      "running",
      "running",
      expect.objectContaining({ n: 1, status: "failed", error: "busy" }),
    ]);
    expect(record.waiting_on).toEqual([
      { type: "approval", id: data[0].id, name: "boss", since: time, expires_at: time },
      { type: "step", id: slow.id, name: "slow", attempt: 1, next_attempt_at: null },
      { type: "step", id: again.id, name: "again", attempt: 1, next_attempt_at: time },
      { type: "timer", until: time },
    ]);
    expect((await home.owner("POST", `/workflows/runs/${run}/cancel`)).status).toBe(200);
    const over = (await read(run)).body;
    expect([over.status, over.waiting_on]).toEqual(["cancelled", []]);
    expect(over.steps.map(({ status }: any) => status)).toEqual(["running", "abandoned"]);
    held.open();
    await home.until(run, ({ steps }) => steps[0].status === "completed");
  });

  test("contains long values, and omits those beyond the limit of one answer", async () => {
    const run = await home.start(await stage.register("wide"), { many: 20 });
    const { steps } = await home.until(run, isOver);
    const omitted = steps.filter((step: any) => step.omitted);
    expect([steps.length, omitted.length]).toEqual([20, 2]);
    for (const step of steps)
      expect([step.result?.length ?? 0, step.omitted?.[0]]).toEqual(
        omitted.includes(step) ? [0, "result"] : [900_000, undefined],
      );
  });

  test.each([1_000, 1_001])("contains all of %s steps", async (many) => {
    const workflow = await stage.register("long", { envelope: { limits: { max_steps: 2_000, max_parallel: 50 } } });
    const run = await home.start(workflow, { many });
    const { steps, result, counts } = await home.until(run, isOver);
    expect([result, steps.length, counts.steps, counts.attempts]).toEqual([many, many, many, many]);
    expect(steps.map((step: any) => step.result)).toEqual(Array.from({ length: many }, (_, n) => n + 1));
  });

  test("is complete with ten thousand events, and so is the event stream", async () => {
    const workflow = await stage.register("echo");
    const run_id = newId();
    const many = 3_333;
    const keys = Array.from({ length: many }, (_, n) => `key${n}`.padEnd(22, "_"));
    const steps = keys.map((key, index) => ({ key, name: "count", batch: keys[0]!, index }));
    const at = new Date().toISOString();
    const of = (key: string) => ({ run_id, key, name: "count", attempt: 1 });
    await append(streamName("run", run_id), [
      runCreated({
        run_id,
        workflow_id: workflow.id,
        definition_id: workflow.definition.id,
        expires_at: at,
        created_at: at,
      }),
      RunStarted.of({ run_id }),
      ...keys.flatMap((key, n) => [
        StepsScheduled.of(
          { run_id, concurrency: null, on_error: "fail", steps: [steps[n]!] },
          { args: [{ json: `${n}` }] },
        ),
        StepStarted.of({ ...of(key), worker: "w" }),
        StepCompleted.of({ ...of(key), duration_ms: 1, secrets: [] }, { result: { json: `${n}` }, logs: [] }),
      ]),
      RunCompleted.of({ run_id, slot: null, forget_at: at, completion: "explicit" }, { result: { json: `${many}` } }),
    ]);
    const { body } = await read(run_id);
    expect([body.status, body.result, body.steps.length]).toEqual(["completed", many, many]);
    expect(body.steps.every((step: any, n: number) => step.result === n && step.args === n)).toBe(true);
    const { text } = await home.owner("GET", `/workflows/runs/${run_id}/events`);
    expect(text.match(/^event: step\.completed$/gm)!.length).toBe(many);
    expect(text.trimEnd().endsWith(`"result":${many}}`)).toBe(true);
  });

  test("can be read with a key, and a malformed id is the same 404 as an unknown one", async () => {
    const run = await home.start(await stage.register("echo"), { a: 1 });
    await home.until(run, isOver);
    expect((await read(run, home.key)).body).toEqual((await read(run)).body);
    const unknown = await read(UNKNOWN);
    expect(code(unknown)).toEqual([404, "run_not_found"]);
    for (const answer of [await read("nonsense"), await read("%00")])
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
  });
});

describe("the list of runs of a workflow", () => {
  test("contains its runs newest first, with pages and filters", async () => {
    const workflow = await stage.register("echo");
    const hook = await home.hook(workflow);
    const direct = [await home.start(workflow), await home.start(workflow)];
    const by = async (user: string) => {
      const headers = { "x-svc-external-user": user };
      return (await home.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, {}, headers)).body
        .run_id as string;
    };
    const called = [await by("ann"), await by("bob")];
    const all = [...direct, ...called];
    for (const run of all) await home.until(run, isOver);
    const list = async (query = "") => {
      const { status, body } = await home.owner("GET", `/workflows/${workflow.id}/runs${query}`);
      expect(status).toBe(200);
      return { ...body, ids: body.data.map(({ id }: { id: string }) => id) };
    };
    const whole = await list();
    expect([whole.ids, whole.total, whole.limit, whole.offset]).toEqual([all.toReversed(), 4, 50, 0]);
    const {
      args: _,
      result: _r,
      steps: _s,
      waiting_on: _w,
      waits: _wa,
      warnings: _n,
      logs: _l,
      counts: _c,
      headers: _h,
      cancel_reason: _cr,
      child_runs: _ch,
      priority: _p,
      ...shown
    } = (await read(all[3]!)).body;
    expect(whole.data[0]).toEqual(shown);
    expect((await list("?limit=2&offset=1")).ids).toEqual([called[0], direct[1]]);
    expect((await list(`?trigger_id=${hook.id}`)).ids).toEqual(called.toReversed());
    expect((await list("?external_user_id=ann")).ids).toEqual([called[0]]);
    expect((await list("?external_user_id=%00")).ids).toEqual([]);
    expect((await list("?status=completed")).total).toBe(4);
    expect((await list("?status=running")).total).toBe(0);
    const at = (await read(called[0]!)).body.created_at;
    expect((await list(`?from=${at}`)).ids).toEqual(called.toReversed());
    expect((await list(`?to=${at}`)).ids).toEqual(direct.toReversed());
    for (const query of ["status=done", "from=yesterday", "to=9", "trigger_id=x", "from=0000-01-01T00:00:00Z"]) {
      const { status, body } = await home.owner("GET", `/workflows/${workflow.id}/runs?${query}`);
      expect([status, body.error.param]).toEqual([400, query.split("=")[0]]);
    }
  });
});

test("a destroyed run is a 404", async () => {
  const workflow = await stage.register("echo");
  const run = await home.start(workflow);
  await home.until(run, isOver);
  const fields = {
    stream: streamName("run", run),
    organization_id: home.organization_id,
    request_id: "test",
    timeout_ms: 15_000,
  };
  const command = newCommand(ForgetRun.type, { ...fields, data: { run_id: run } });
  const { bus, log } = stage.resources;
  expect((await bus.sender(log).send({ ...command, at: "2100-01-01T00:00:00.000Z" })).rejection).toBeUndefined();
  for (const path of ["", "/approvals", "/events"].map((rest) => `/workflows/runs/${run}${rest}`))
    expect(code(await home.owner("GET", path))).toEqual([404, "run_not_found"]);
  expect((await home.owner("GET", `/workflows/${workflow.id}/runs`)).body.data).toEqual([]);
  const left = await stage.events(run);
  expect(left.every(({ personal }) => personal === undefined)).toBe(true);
});
