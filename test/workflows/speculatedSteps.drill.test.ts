import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { openWorkflows, workflowSource } from "./harness.ts";

/* Runs whose steps do not use the platform look like all others from outside. */

const w = await openWorkflows();
await w.home.secret("often", "often-told-secret");
const MAY = { secrets: ["often"] };

const PURE = "add: ({ n, sum }, ctx) => { ctx.log('adds', n); return sum + n; },";
/** The same step, except that it uses the platform first. */
const ASKING = PURE.replace("({ n, sum }, ctx) => {", "async ({ n, sum }, ctx) => { await ctx.secrets.get('often');");
const LINE =
  "let sum = 0; for (let n = 1; n <= args.steps; n++) { if (n % 10 === 0) ctx.log('at', n); sum = await ctx.runStep('add', { n, sum }); }";

const typesOf = async (run: string): Promise<string[]> =>
  (await w.resources.log.read(streamName("run", run))).map(({ type }) => type);

/** The visible parts of a run, without ids and times. */
async function seen(record: any) {
  const { id, status, result, completion, error, error_info, logs, warnings, counts, steps } = record;
  const shown = steps.map(({ name, key, batch, index, status: state, args, result: came, attempts }: any) => ({
    name,
    key,
    batch,
    index,
    state,
    args,
    came,
    attempts: attempts.map(({ n, status: of, logs: lines }: any) => ({ n, of, lines })),
  }));
  const code = error_info && [error_info.code, error_info.step, error_info.attempt];
  return {
    status,
    result,
    completion,
    error,
    code,
    logs,
    warnings,
    counts,
    steps: shown,
    events: await w.home.followedEvents(id),
  };
}
/** Runs both variants and expects the same record; returns the first one's. */
async function alike(run: string, steps = "", args: object = {}, envelope: object = {}): Promise<any> {
  const rules = { ...MAY, ...envelope };
  const [pure, asking] = [
    await w.home.run(workflowSource(run, PURE + steps), args, rules),
    await w.home.run(workflowSource(run, ASKING + steps), args, rules),
  ];
  expect(await seen(pure)).toEqual(await seen(asking));
  return pure;
}

describe("the record equals that of steps which use the platform", () => {
  test("one after the other", async () => {
    const record = await alike(`${LINE} return ctx.complete(sum);`, "", { steps: 120 });
    expect([record.status, record.result]).toEqual(["completed", 7_260]);
    expect(record.counts).toEqual({ steps: 120, attempts: 120, ticks: 121 });
    expect(record.logs[3]).toEqual({ tick: 40, text: "at 40" });
    expect(await w.home.followedEvents(record.id)).toEqual([
      "run.created",
      "run.started",
      ...Array.from({ length: 120 }, (_, n) => [
        ...(n % 10 === 9 ? ["run.log"] : []),
        "step.scheduled",
        "step.started",
        "step.log",
        "step.completed",
      ]).flat(),
      "run.completed",
    ]);
  });
  test("with items of runStepMany between them", async () => {
    const many = "const many = await ctx.runStepMany('add', [1, 2, 3].map((n) => ({ n, sum })), { concurrency: 1 });";
    const { result } = await alike(`${LINE} ${many} return ctx.complete([sum, many]);`, "", { steps: 20 });
    expect(result).toEqual([210, [211, 212, 213]]);
  });
  test("if one of them fails the run", async () => {
    const fail = "fail: () => { throw new NonRetryableError('no'); },";
    const { status, error_info } = await alike(`${LINE} await ctx.runStep("fail");`, fail, { steps: 20 });
    expect([status, error_info.code]).toEqual(["failed", "step_error"]);
  });
  test("if they exceed the number that the workflow allows", async () => {
    const { error_info, counts } = await alike(LINE, "", { steps: 20 }, { limits: { max_steps: 12 } });
    expect([error_info.code, counts.steps]).toEqual(["too_many_steps", 12]);
  });
  test("if a result is larger than the workflow allows", async () => {
    const long = "long: () => 'x'.repeat(2_000),";
    const { error_info } = await alike(
      `${LINE} await ctx.runStep("long");`,
      long,
      { steps: 5 },
      { limits: { max_result_bytes: 1_024 } },
    );
    expect(error_info.code).toBe("step_result_too_large");
  });
  test("if arguments do not match the step", async () => {
    const strict = "strict: defineStep({ input: { type: 'object', required: ['m'] } }, () => 1),";
    const { error_info } = await alike(`${LINE} await ctx.runStep("strict", { n: 1 });`, strict, { steps: 5 });
    expect(error_info).toMatchObject({ code: "invalid_step_args", step: "strict" });
  });
  test("if run() acts while it is suspended: its actions do not depend on the time of the suspension", async () => {
    const early = `let sum = null; try { sum = await ctx.runStep("add", { n: 1, sum: 1 }); } finally { if (sum === null) await ctx.complete("left"); }`;
    expect((await alike(`${early} return ctx.complete("stayed");`)).result).toBe("left");
    const forgotten = `ctx.runStep("add", { n: 1, sum: 1 }); return ctx.complete("left");`;
    const record = await alike(forgotten);
    expect([record.result, record.steps]).toEqual(["left", []]);
    const handled = `const after = await ctx.runStep("add", { n: 1, sum: 1 })["then"](...[(x) => x, () => ctx.complete("left")]);`;
    expect((await alike(`${handled} return ctx.complete(after);`)).result).toBe("left");
  });
});

test("times of steps increase from the run's beginning to its end", async () => {
  const record = await w.home.run(workflowSource(`${LINE} return ctx.complete(sum);`, PURE), { steps: 80 });
  const times = [
    record.created_at,
    record.started_at,
    ...record.steps.flatMap(({ scheduled_at, completed_at, attempts: [{ started_at, ended_at }] }: any) => {
      expect([started_at, ended_at]).toEqual(
        [scheduled_at, completed_at].map((time, n) =>
          n === 0 ? expect.toSatisfy((began: string) => began >= time) : time,
        ),
      );
      return [scheduled_at, started_at, ended_at];
    }),
    record.completed_at,
  ];
  expect(times.toSorted()).toEqual(times);
  const events = await w.resources.log.read(streamName("run", record.id));
  const durations = events.flatMap(({ data }) => (data as { duration_ms?: number }).duration_ms ?? []);
  expect(durations).toHaveLength(80);
  const whole = Date.parse(record.completed_at) - Date.parse(record.created_at);
  expect(durations.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(whole + 80);
});

describe("stored results beside the log", () => {
  const big = "big: ({ n }) => String(n).padStart(900_000, '.'),";
  const run = "let last; for (let n = 1; n <= args.steps; n++) last = await ctx.runStep('big', { n });";
  test("are those of the steps, from the first on", async () => {
    const { status, result } = await w.home.run(workflowSource(`${run} return ctx.complete(last.slice(-5));`, big), {
      steps: 6,
    });
    expect([status, result]).toEqual(["completed", "....6"]);
  });
});

test("a step that never ends in a native operation ends the run like a normal step", async () => {
  const steps = `${PURE} stuck: () => "a".repeat(2e7).indexOf("a".repeat(1e7) + "b"),`;
  const { home } = w;
  const stuck = home.run(workflowSource(`${LINE} await ctx.runStep("stuck");`, steps), { steps: 10 });
  const others = await Promise.all(
    [30, 31, 32].map((n) => home.run(workflowSource(`${LINE} return ctx.complete(sum);`, PURE), { steps: n })),
  );
  expect(others.map(({ result }) => result)).toEqual([465, 496, 528]);
  const { status, error_info, counts } = await stuck;
  expect([status, error_info]).toMatchObject(["failed", { code: "step_limit", step: "stuck", attempt: 1 }]);
  expect(counts).toEqual({ steps: 11, attempts: 11, ticks: 11 });
});

test("a run that is read back from the log has the same times, ids and random numbers", async () => {
  const run = `const all = [];
    for (let n = 0; n < 30; n++) {
      const drawn = [ctx.now("t" + n), ctx.uuid("u" + n), Math.random(), Date.now()];
      all.push(drawn, await ctx.runStep("keep", { drawn }));
    }
    // a step that uses the platform makes run() execute from the beginning
    await ctx.runStep("ask");
    await ctx.sleep(50);
    return ctx.complete(all);`;
  const steps = "keep: ({ drawn }) => drawn, ask: (args, ctx) => ctx.secrets.get('often').then(() => 1),";
  const { result, steps: shown, counts } = await w.home.run(workflowSource(run, steps), {}, MAY);
  expect(result).toHaveLength(60);
  for (let n = 0; n < 60; n += 2) expect(result[n + 1]).toEqual(result[n]);
  expect(shown.slice(0, 30).map(({ args }: any) => args.drawn)).toEqual(
    result.filter((_: unknown, n: number) => n % 2),
  );
  expect(counts).toMatchObject({ steps: 31, attempts: 31 });
});

describe("an approval beside steps without external effects", () => {
  const LATE = `const line = async () => { ${LINE} return sum; };
    const side = async () => {
      // on every tick it is requested after the steps that are known so far
      for (let n = 0; n < 1_500; n++) await null;
      return ctx.awaitApproval("boss", { title: "Go?" });
    };
    const [{ approved }, sum] = await Promise.all([side(), line()]);
    return ctx.complete({ approved, sum });`;
  test("stays as requested, whichever is requested first", async () => {
    const { home } = w;
    const run = await home.start(await home.register(workflowSource(LATE, PURE)), { steps: 300 });
    await home.until(run, ({ steps }) => steps.length === 300 && steps.every(({ completed_at }: any) => completed_at));
    const [approval] = await home.pending(run);
    await home.decide(approval);
    const { result, counts } = await home.untilOver(run);
    expect([result, counts.steps]).toEqual([{ approved: true, sum: 45_150 }, 300]);
    const types = await typesOf(run);
    expect(types.filter((type) => type.startsWith("Approval"))).toEqual(["ApprovalRequested", "ApprovalDecided"]);
  });
});

test("a cancellation in the middle of a long run ends it soon, and nothing is recorded afterwards", async () => {
  const { home } = w;
  const workflow = await home.register(workflowSource(LINE, PURE), { limits: { max_steps: 10_000 } });
  const runs = await Promise.all(Array.from({ length: 4 }, () => home.start(workflow, { steps: 5_000 })));
  for (const run of runs) {
    await home.until(run, ({ counts }) => counts.steps > 20);
    expect((await home.cancel(run)).status).toBe(200);
  }
  for (const run of runs) {
    const { status, steps } = await home.untilOver(run);
    expect([status, steps.length < 5_000]).toEqual(["cancelled", true]);
    await sleep(100);
    const events = await w.home.followedEvents(run);
    const after = events.slice(events.indexOf("run.cancelled") + 1);
    expect(after).toEqual(expect.toBeOneOf([[], ["step.completed"], ["step.log", "step.completed"]]));
  }
});

test("a wait beyond the years that the log can represent is refused", async () => {
  const source = workflowSource(`${LINE} await ctx.sleepUntil(["9999-12-31T23:59:59", "-10:00"].join(""));`, PURE);
  const { status, error_info, error } = await w.home.run(source, { steps: 3 });
  expect([status, error_info.code, error]).toEqual(["failed", "run_error", expect.stringContaining("years 1 to 9999")]);
});
