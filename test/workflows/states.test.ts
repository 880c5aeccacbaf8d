import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openWorkflows, workflowSource } from "./harness.ts";

/* States of a run and the transitions between them, and the five rules (spec: Workflow run status). */

const w = await openWorkflows();

const ASKS = workflowSource(
  `const { approved, comment } = await ctx.awaitApproval("boss", { title: "Go?" });
  return ctx.complete(approved ? await ctx.runStep("act", {}) : { stopped: comment });`,
  `act: () => ({ acted: true })`,
);
/** A step that requests a path of the site, and returns how often it was requested. */
const VISIT = `visit: async ({ path }, ctx) => (await (await ctx.fetch(args_url + path)).json()).nth`;
const visiting = (run: string, steps = "", meta = {}) =>
  `const args_url = ${JSON.stringify(w.site.url)};\n${workflowSource(run, `${VISIT}, ${steps}`, meta)}`;

/** A run that uses the one processor of its organization for a tick, so that ticks of other runs wait. */
const BUSY = workflowSource(`const end = 4e6; let n = 0; while (n < end) n++; await ctx.sleep("1h");`);

describe("a run", () => {
  test("is pending until its first tick, and never begins if it is cancelled before", async () => {
    const { home } = w;
    const busy = await home.register(BUSY);
    const waits = await home.register(ASKS);
    const before = await Promise.all(Array.from({ length: 12 }, () => home.start(busy)));
    const run = await home.start(waits);
    const { status, started_at, counts } = await home.read(run);
    expect([status, started_at, counts.ticks]).toEqual(["pending", null, 0]);
    expect((await home.cancel(run)).status).toBe(200);
    for (const id of before) await home.until(id, ({ waiting_on }) => waiting_on.length > 0);
    const record = await home.read(run);
    expect([record.status, record.started_at, record.counts.ticks]).toEqual(["cancelled", null, 0]);
    for (const id of before) await home.cancel(id);
  });

  test("that calls complete() is completed, with its result", async () => {
    const { home } = w;
    const hook = await home.hook(await home.register(workflowSource("return ctx.complete({ said: args.word });")));
    const { run_id, status } = await home.call(hook, { word: "hello" });
    expect(status).toBe("pending");
    const polled = await home.polled(hook, run_id);
    expect(polled).toMatchObject({ status: "completed", result: { said: "hello" }, error: null });
    const record = await home.read(run_id);
    expect([record.completion, Date.parse(record.completed_at) > 0]).toEqual(["explicit", true]);
  });

  test("fails if its step has no attempts left: the reason is the step's error, and there is no result", async () => {
    const { home } = w;
    const source = workflowSource(
      `await ctx.runStep("fail", {}); return "never";`,
      `fail: defineStep({ retries: 2, backoff: { kind: "fixed", initial_ms: 10 } }, (_, ctx) => { throw new Error("no luck " + ctx.attempt) })`,
    );
    const hook = await home.hook(await home.register(source));
    const { run_id } = await home.call(hook);
    const polled = await home.polled(hook, run_id);
    expect([polled.status, polled.error, polled.result]).toEqual(["failed", "no luck 3", null]);
    const record = await home.read(run_id);
    expect(record.error_info).toMatchObject({ code: "step_error", step: "fail", attempt: 3 });
    expect(record.steps[0].attempts.map(({ error }: any) => error)).toEqual(["no luck 1", "no luck 2", "no luck 3"]);
  });

  test("that waits for a person is running, keeps its secrets, and can be cancelled", async () => {
    const { home } = w;
    await home.secret("shop_key", "open-sesame-1");
    const source = workflowSource(
      `await ctx.awaitApproval("boss", { title: "Go?" }); return ctx.runStep("tell", {});`,
      `tell: async (_, ctx) => (await ctx.secrets.get("shop_key")).length`,
      { secrets: ["shop_key"] },
    );
    const workflow = await home.register(source, { secrets: ["shop_key"] });
    const [kept, dropped] = [await home.start(workflow), await home.start(workflow)];
    const [first] = await home.pending(kept);
    const [second] = await home.pending(dropped);
    expect([(await home.read(kept)).status, (await home.read(dropped)).status]).toEqual(["running", "running"]);
    expect((await home.cancel(dropped)).body.status).toBe("cancelled");
    expectRefusal(await home.decide(second), 409, "approval_not_pending", null);
    expect((await home.approvals(dropped))[0].status).toBe("cancelled");
    // the answer has the run's current status: on a fast machine the run has already ended
    expect(["running", "completed"]).toContain((await home.decide(first)).body.run_status);
    expect(await home.untilOver(kept)).toMatchObject({ status: "completed", result: 13 });
    expect((await home.read(dropped)).steps).toEqual([]);
  });

  test("with a rejection that runs to its end is completed, and only its result shows the rejection", async () => {
    const { home } = w;
    const workflow = await home.register(ASKS);
    const [yes, no] = [await home.start(workflow), await home.start(workflow)];
    await home.decide((await home.pending(yes))[0]);
    await home.decide((await home.pending(no))[0], { decision: "reject", comment: "too much" });
    expect(await home.untilOver(yes)).toMatchObject({ status: "completed", result: { acted: true } });
    expect(await home.untilOver(no)).toMatchObject({ status: "completed", result: { stopped: "too much" } });
  });

  test.each(["finishes", "fails"])(
    "that is cancelled neither ticks nor reads secrets, and its step %s independently",
    async (how) => {
      const { home, site, egress } = w;
      await home.secret("late_key", "never-told-7");
      const path = `/hold/cancel-${how}`;
      const source = visiting(
        `ctx.log("tick"); await ctx.runStep("slow", {}); await ctx.runStep("visit", { path: "/after-${how}" });`,
        `slow: defineStep({ retries: 5, backoff: { kind: "fixed", initial_ms: 1 } }, async (_, ctx) => {
        await ctx.fetch(args_url + "${path}");
        const asked = await ctx.secrets.get("late_key").then(() => "told", ({ code }) => code);
        if (${how === "fails"}) throw new Error("afterwards " + asked);
        return asked;
      })`,
      );
      const run = await home.start(await home.register(source, { ...egress, secrets: ["late_key"] }));
      await site.requested(path);
      expectRefusal(await home.cancel(run, home.key), 403, "session_required", null);
      const { body } = await home.cancel(run);
      expect(body).toMatchObject({ id: run, status: "cancelled", steps_still_running: 1 });
      site.release(path);
      const ended = how === "fails" ? "failed" : "completed";
      const record = await home.until(run, ({ steps }) => steps[0].status === ended);
      expect([record.status, record.result, record.counts.ticks, record.steps.length]).toEqual([
        "cancelled",
        null,
        1,
        1,
      ]);
      const [{ attempts, result }] = record.steps;
      expect([attempts.length, result, attempts[0].error]).toEqual(
        how === "fails" ? [1, null, "afterwards secret_access_revoked"] : [1, "secret_access_revoked", null],
      );
      expect([site.times(path), site.times(`/after-${how}`)]).toEqual([1, 0]);
      expect((await home.cancel(run)).body).toMatchObject({ status: "cancelled", steps_still_running: 0 });
    },
  );
});

describe("rule", () => {
  test("1: completed says nothing about the outcome", async () => {
    const { home } = w;
    for (const result of [null, false, { ok: false, reason: "declined" }])
      expect(await home.run(workflowSource("return args.result;"), { result })).toMatchObject({
        status: "completed",
        result,
      });
  });

  test("2: run() is executed from the start on every tick, and no state survives one", async () => {
    const { home } = w;
    const source = `let times = 0;\n${workflowSource(
      `times += 1;
      globalThis.seen = (globalThis.seen ?? 0) + 1;
      ctx.log("execution");
      for (let n = 0; n < 3; n++) await ctx.runStep("next", { n });
      return { times, seen: globalThis.seen };`,
      `next: ({ n }) => n`,
    )}`;
    const record = await home.run(source);
    expect([record.result, record.counts.ticks, record.logs]).toEqual([
      { times: 1, seen: 1 },
      4,
      [{ tick: 1, text: "execution" }],
    ]);
  });

  test("3: a changed argument object runs its step again on the next resume, and no other step", async () => {
    const { home, site, egress } = w;
    const source = visiting(
      `const other = await ctx.runStep("visit", { path: "/other" });
      const isKnown = await ctx.runStep("slow", {}).then(() => true, () => false);
      const order = { path: "/order", amount: 5 };
      if (isKnown) order.currency = "EUR";
      return { other, nth: await ctx.runStep("visit", order) };`,
      `slow: async (_, ctx) => { await ctx.fetch(args_url + "/hold/reshaped"); return "done"; }`,
    );
    const run = await home.start(await home.register(source, egress));
    await site.requested("/order");
    await site.requested("/hold/reshaped");
    site.release("/hold/reshaped");
    const record = await home.untilOver(run);
    expect([record.result, site.times("/order"), site.times("/other")]).toEqual([{ other: 1, nth: 2 }, 2, 1]);
    const visits = record.steps.filter(({ name }: any) => name === "visit");
    expect(visits.map(({ args }: any) => args)).toEqual([
      { path: "/other" },
      { path: "/order", amount: 5 },
      { path: "/order", amount: 5, currency: "EUR" },
    ]);
    const changed = record.warnings.filter(({ code }: any) => code === "step_args_changed");
    expect(changed).toMatchObject([{ step: "visit", message: expect.stringContaining("differ at /currency") }]);
  });

  test("4: code that catches a signal takes it for the answer, and the run gets a warning", async () => {
    const { home } = w;
    const source = workflowSource(
      `let answer;
      try {
        answer = await ctx.runStep("add", { a: 1 });
      } catch (error) {
        answer = error.name;
      }
      return ctx.complete(answer);`,
      `add: ({ a }) => a + 1`,
    );
    const record = await home.run(source);
    expect([record.result, record.steps]).toEqual(["WorkflowSuspend", []]);
    expect(record.warnings).toMatchObject([{ code: "signal_swallowed", line: 6 }]);
  });

  test("5: a missing secret fails the step that reads it, and not earlier", async () => {
    const { home } = w;
    const source = workflowSource(
      `await ctx.runStep("first", {}); await ctx.runStep("tell", {});`,
      `first: () => 1, tell: (_, ctx) => ctx.secrets.get("nowhere")`,
      { secrets: ["nowhere"] },
    );
    for (const [secrets, code] of [
      [[], "secret_not_allowed"],
      [["nowhere"], "secret_not_connected"],
    ] as const) {
      const record = await home.run(source, {}, { secrets });
      expect([record.status, record.error_info.code, record.error_info.step]).toEqual(["failed", code, "tell"]);
      expect(record.steps.map(({ status, attempts }: any) => [status, attempts.length])).toEqual([
        ["completed", 1],
        ["failed", 1],
      ]);
    }
  });
});

test("a failed run, step and attempt show their position in the author's source", async () => {
  const source = [
    `import { defineStep } from "svc:workflow";`,
    `interface Args { how: "run" | "step" }`,
    `const pay = (_: { n: number }): never => { throw new TypeError("no money"); };`,
    `export const steps = { pay: defineStep({ retries: 0 }, pay) };`,
    `export async function run(ctx: any, { how }: Args) {`,
    `  if (how === "run") { const wrong: Error = new RangeError("no way"); throw wrong; }`,
    `  await ctx.runStep("pay", { n: 1 });`,
    `}`,
  ];
  const workflow = await w.home.register(source.join("\n"));
  const place = (line: number, text: string) => ({ line, column: source[line - 1]!.indexOf(text) + 1 });
  const inStep = { code: "step_error", ...place(3, "TypeError(") };
  const byStep = await w.home.untilOver(await w.home.start(workflow, { how: "step" }));
  expect(byStep).toMatchObject({ error: "TypeError: no money", error_info: { ...inStep, step: "pay", attempt: 1 } });
  expect(byStep.steps).toMatchObject([{ error_info: inStep, attempts: [{ error_info: inStep }] }]);
  const byRun = await w.home.untilOver(await w.home.start(workflow, { how: "run" }));
  expect(byRun.error_info).toMatchObject({ code: "run_error", step: null, ...place(6, "RangeError(") });
});
