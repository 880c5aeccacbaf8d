import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { StepFailure } from "#services/workflows/tick.ts";
import { idempotencyKey, newId, stepId, streamOf } from "#events/ids.ts";
import { RunCompleted, RunCreated, RunStarted, StepCompleted, StepsScheduled, StepStarted } from "#events/run.ts";
import { Envelope } from "#events/workflow.ts";
import { code, gate, isOver, openStage, UNKNOWN, type Stage } from "./stage.ts";

const held = gate();
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
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
});

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const read = (run: string, by = stage.home.person) => by("GET", `/runs/${run}`);

describe("the record of a run", () => {
  test("holds every step with its attempts, in the order of scheduling", async () => {
    const run = await stage.start(await stage.register("charge"));
    const { steps, result, counts, completion } = await stage.until(run, isOver);
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
      logs: [],
      logs_truncated: false,
    };
    const common = { status: "completed", attempts: [attempt], error: null, scheduled_at: time, completed_at: time };
    const of = (n: number) => ({
      id: stepId(run, keys[n]!),
      key: keys[n],
      idempotency_key: idempotencyKey(run, keys[n]!),
      ...common,
    });
    expect(steps).toEqual([
      { ...of(0), name: "charge", batch: null, index: null, args: { amount: 5 }, result: { id: "c5" } },
      { ...of(1), name: "notify", batch: keys[1], index: 0, args: "a", result: "told a" },
      { ...of(2), name: "notify", batch: keys[1], index: 1, args: "b", result: "told b" },
    ]);
  });

  test("says why it failed, and where", async () => {
    const workflow = await stage.register("charge");
    const run = await stage.start(workflow, { fail: true });
    const record = await stage.until(run, isOver);
    const step = record.steps.at(-1);
    expect([record.status, record.result, record.error]).toEqual(["failed", null, "declined"]);
    expect(record.error_info).toEqual({ code: "step_error", step_id: step.id, step: "refuse", attempt: 1 });
    expect([step.status, step.error, step.result]).toEqual(["failed", "declined", null]);
    const { data } = (await stage.home.person("GET", `/${workflow.id}/runs`)).body;
    expect(data[0]).toMatchObject({
      error: "declined",
      error_info: { code: "step_error", step_id: step.id, step: "refuse" },
    });
  });

  test("tells what a live run waits for", async () => {
    onTestFinished(() => held.open());
    const run = await stage.start(await stage.register("waits"));
    const record = await stage.until(run, ({ steps }) => steps.some(({ status }: any) => status === "retry_wait"));
    const [slow, again] = record.steps;
    const { data } = (await stage.home.person("GET", `/runs/${run}/approvals`)).body;
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
    expect((await stage.home.person("POST", `/runs/${run}/cancel`)).status).toBe(200);
    const over = (await read(run)).body;
    expect([over.status, over.waiting_on]).toEqual(["cancelled", []]);
    expect(over.steps.map(({ status }: any) => status)).toEqual(["running", "abandoned"]);
    held.open();
    await stage.until(run, ({ steps }) => steps[0].status === "completed");
  });

  test("has long values, and leaves out what would be too much of them", async () => {
    const run = await stage.start(await stage.register("wide"), { many: 20 });
    const { steps } = await stage.until(run, isOver);
    const omitted = steps.filter((step: any) => step.omitted);
    expect([steps.length, omitted.length]).toEqual([20, 2]);
    for (const step of steps)
      expect([step.result?.length ?? 0, step.omitted?.[0]]).toEqual(
        omitted.includes(step) ? [0, "result"] : [900_000, undefined],
      );
  });

  test.each([1_000, 1_001])("has %s steps where the run has them", async (many) => {
    const workflow = await stage.register("long", { envelope: { limits: { max_steps: 2_000, max_parallel: 50 } } });
    const run = await stage.start(workflow, { many });
    const { steps, result, counts } = await stage.until(run, isOver);
    expect([result, steps.length, counts.steps, counts.attempts]).toEqual([many, many, many, many]);
    expect(steps.map((step: any) => step.result)).toEqual(Array.from({ length: many }, (_, n) => n + 1));
  });

  test("is whole with ten thousand events, and so is its stream", async () => {
    const workflow = await stage.register("echo");
    const run_id = newId();
    const many = 3_333;
    const keys = Array.from({ length: many }, (_, n) => `key${n}`.padEnd(22, "_"));
    const steps = keys.map((key, index) => ({ key, name: "count", batch: keys[0]!, index }));
    const at = new Date().toISOString();
    const { limits, approvals } = Envelope.parse({});
    const of = (key: string) => ({ run_id, key, name: "count", attempt: 1 });
    await stage.logged(streamOf("run", run_id), [
      RunCreated.of(
        {
          run_id,
          workflow_id: workflow.id,
          definition_id: workflow.definition.id,
          definition_version: 1,
          project_id: null,
          trigger_id: null,
          started_by: { type: "system", id: "test" },
          run_as: { type: "service", id: null },
          limits,
          expires_at: at,
          retention_days: 1,
          approvals,
          slot: null,
          created_at: at,
          worker: null,
        },
        { args: { json: "{}" }, external_user_id: null },
      ),
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
    const { text } = await stage.home.person("GET", `/runs/${run_id}/events`);
    expect(text.match(/^event: step\.completed$/gm)!.length).toBe(many);
    expect(text.trimEnd().endsWith(`"result":${many}}`)).toBe(true);
  });

  test("is read by the key, and is the same for all who may not", async () => {
    const { home } = stage;
    const other = await stage.join("Other");
    const run = await stage.start(await stage.register("echo"), { a: 1 });
    await stage.until(run, isOver);
    expect((await read(run, home.key)).body).toEqual((await read(run)).body);
    const unknown = await read(UNKNOWN);
    expect(code(unknown)).toEqual([404, "run_not_found"]);
    for (const answer of [
      await read(run, other.person),
      await read(run, other.key),
      await read("nonsense"),
      await read("%00"),
    ])
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    const approvals = (id: string, by = other.person) => by("GET", `/runs/${id}/approvals`);
    expect((await approvals(run)).text).toBe((await approvals(UNKNOWN)).text);
    expect((await approvals(run)).status).toBe(404);
  });
});

describe("the history of a workflow", () => {
  test("has its runs, newest first, by page and by filter", async () => {
    const { home } = stage;
    const workflow = await stage.register("echo");
    const hook = await stage.hook(workflow);
    const direct = [await stage.start(workflow), await stage.start(workflow)];
    const by = async (user: string) => {
      const headers = { "x-svc-external-user": user };
      return (await stage.caller(hook)("POST", `/hooks/${hook.hook_token}`, {}, headers)).body.run_id as string;
    };
    const called = [await by("ann"), await by("bob")];
    const all = [...direct, ...called];
    for (const run of all) await stage.until(run, isOver);
    const list = async (query = "") => {
      const { status, body } = await home.person("GET", `/${workflow.id}/runs${query}`);
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
      warnings: _n,
      logs: _l,
      counts: _c,
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
      const { status, body } = await home.person("GET", `/${workflow.id}/runs?${query}`);
      expect([status, body.error.param]).toEqual([400, query.split("=")[0]]);
    }
  });

  test("is for those who sign in, to their own workflows", async () => {
    const { home } = stage;
    const other = await stage.join("Abroad");
    const workflow = await stage.register("echo");
    expect(code(await home.key("GET", `/${workflow.id}/runs`))).toEqual([403, "session_required"]);
    const unknown = await other.person("GET", `/${UNKNOWN}/runs`);
    expect(code(unknown)).toEqual([404, "workflow_not_found"]);
    for (const id of [workflow.id, "nonsense"])
      expect((await other.person("GET", `/${id}/runs`)).text).toBe(unknown.text);
  });
});

test("a run that was destroyed is there no longer", async () => {
  const workflow = await stage.register("echo");
  const run = await stage.start(workflow);
  await stage.until(run, isOver);
  await stage.forget(run);
  for (const path of [`/runs/${run}`, `/runs/${run}/approvals`, `/runs/${run}/events`])
    expect(code(await stage.home.person("GET", path))).toEqual([404, "run_not_found"]);
  expect((await stage.home.person("GET", `/${workflow.id}/runs`)).body.data).toEqual([]);
  const left = await stage.events(run);
  expect(left.every(({ personal }) => personal === undefined)).toBe(true);
});
