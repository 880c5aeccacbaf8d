import { afterAll, describe, expect, test } from "vitest";
import { compile } from "#infra/sandbox/compile.ts";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import type { MemoEntry, TickOutcome } from "#services/workflows/tick.ts";
import {
  answersTo,
  tickCallFor,
  CREATED_AT,
  StepRejection,
  keysOf,
  moduleWithRun,
  runThrough,
} from "./workflowCalls.ts";

/* run() is executed again on every tick, and its calls are answered from the memo. */

const runner = openWorkflows({ processes: 2 });
afterAll(() => runner.close());

const tick = (body: string, memo: MemoEntry[] = [], args: unknown = {}): Promise<TickOutcome> =>
  runner.tick(tickCallFor(moduleWithRun(body), { memo, args: JSON.stringify(args) }));
const end = async (body: string, memo?: MemoEntry[], args?: unknown) => (await tick(body, memo, args)).end;
/** The result of a run that gets an answer to every call. */
async function resultOf(body: string, answers?: Parameters<typeof runThrough>[2], args: unknown = {}) {
  const call = tickCallFor(moduleWithRun(body), { args: JSON.stringify(args) });
  const last = (await runThrough(runner, call, answers)).at(-1)!.end;
  if (last.type !== "completed") throw new Error(`the run ended with ${JSON.stringify(last)}`);
  return JSON.parse(last.json);
}
const keys = (outcome: TickOutcome) => outcome.pending.flatMap(keysOf);

describe("a run", () => {
  test("is completed by the first complete()", async () => {
    expect(await end("ctx.complete({ n: 1 }).catch(() => {}); await ctx.complete(2)")).toEqual({
      type: "completed",
      completion: "explicit",
      json: '{"n":1}',
    });
    expect(await end("await ctx.complete(); throw new Error('never')")).toMatchObject({ json: "null" });
  });

  test("is completed by complete() despite a later error, call or loop", async () => {
    expect(await end("await complete(1).catch(() => {}); throw new Error('late')")).toMatchObject({ json: "1" });
    expect(await end("await complete(1).catch(() => {}); for (;;) {}")).toMatchObject({ json: "1" });
    expect(await end("ctx.runStep('a').catch(() => {}); await complete(1)")).toMatchObject({ json: "1" });
  });

  test("fails with the line of an uncaught error", async () => {
    expect(await end("const x = 1;\nthrow new TypeError('no such order')")).toEqual({
      type: "failed",
      code: "run_error",
      message: "TypeError: no such order",
      line: 4,
      column: 11,
    });
    expect(await end("ctx.runStep('a').catch(() => {}); await null; throw new Error('x')")).toMatchObject({
      type: "failed",
    });
    expect(await end("throw { toString() { return 'odd' } }")).toMatchObject({ message: "odd", line: null });
  });

  test("reports the author's position of a failure, even behind removed types", async () => {
    const source = [
      "interface Order { id: string; items: Array<{ sku: string }> }",
      "export const steps = {};",
      'const sku = (order: Order, n: number): string => { const one = order.items[n] as { sku: string }; throw new RangeError("none"); };',
      "export async function run(ctx: unknown, args: Record<string, unknown>): Promise<string> {",
      "  const order: Order = { id: 'a', items: [] };  return sku(order, 0);",
      "}",
    ].join("\n");
    const { js } = compile(source);
    const { end: ended } = await runner.tick(tickCallFor(js));
    expect(ended).toMatchObject({ type: "failed", line: 3, column: source.split("\n")[2]!.indexOf("RangeError") + 1 });
  });

  test("names the position of every call on request", async () => {
    const body = "ctx.now('t');\n  await ctx.runStep('a');\n  await Promise.all([runStep('b', 1), runStep('b', 2)])";
    const call = tickCallFor(moduleWithRun(body), { trace: true });
    const { pending } = await runner.tick(call);
    const [first] = pending.flatMap((one) => (one.kind === "steps" ? one.steps : []));
    const memo = [{ key: first!.key, value: { json: "1" } }];
    const { calls } = await runner.tick({ ...call, memo });
    expect(calls!.map(({ line, column }) => [line, column])).toEqual([
      [4, 13],
      [5, 22],
      [5, 39],
    ]);
    expect(calls![0]!.key).toBe(first!.key);
  });

  test("survives a script that replaces the functions that build stack traces", async () => {
    const body =
      "Error.prepareStackTrace = () => { for (let n = 0; n < 3; n++) runStep('b', n); return 'x' };\nawait runStep('a')";
    const { pending, calls } = await runner.tick(tickCallFor(moduleWithRun(body), { trace: true }));
    expect([pending.length, calls!.length]).toEqual([4, 4]);
  });

  test("is suspended by a call without a result, whatever run() returns", async () => {
    const outcome = await tick("await ctx.runStep('a', { n: 1 })");
    expect(outcome).toMatchObject({ end: { type: "suspended" }, unusedKeys: [], notes: [], warnings: [], logs: [] });
    expect(outcome.pending).toMatchObject([
      { kind: "steps", steps: [{ name: "a", args: '{"n":1}' }], concurrency: null, on_error: "fail" },
    ]);
    expect(await end("ctx.runStep('a'); return 5")).toEqual({ type: "suspended" });
    expect(await end("ctx.runStep('a').catch(() => {}); await new Promise(() => {})")).toEqual({ type: "suspended" });
  });

  test("is completed by the value that run() returns when no call is outstanding", async () => {
    expect(await end("return { a: [undefined, new Date(0)], b: undefined }")).toEqual({
      type: "completed",
      completion: "implicit",
      json: '{"a":[null,"1970-01-01T00:00:00.000Z"]}',
    });
    expect(await end("")).toMatchObject({ completion: "implicit", json: "null" });
    expect(await runner.tick(tickCallFor("export function run() { return 5 }"))).toMatchObject({ end: { json: "5" } });
  });

  test("fails if it waits for a promise that never settles", async () => {
    expect(await end("await new Promise(() => {})")).toMatchObject({
      code: "run_stuck",
      message: expect.stringMatching(/never settles/),
    });
    const { end: ended } = await runner.tick(tickCallFor("await new Promise(() => {}); export function run() {}"));
    expect(ended).toMatchObject({ type: "failed", code: "run_stuck" });
  });

  test("fails without a function run(), and if its module throws", async () => {
    const endOf = async (js: string) => (await runner.tick(tickCallFor(js))).end;
    expect(await endOf("export const steps = {}")).toMatchObject({
      message: expect.stringMatching(/exports a function run/),
    });
    expect(await endOf("\nthrow new Error('top')\nexport function run() {}")).toMatchObject({
      message: "top",
      line: 2,
    });
    expect(await endOf("import 'node:fs'; export function run() {}")).toMatchObject({
      message: expect.stringMatching(/imports nothing but svc:workflow/),
    });
  });
});

describe("several calls of one tick", () => {
  test("are requested together, in order, and answered together", async () => {
    const body = "const [x, y] = await Promise.all([runStep('a', 1), runStep('b', 2)]); return { x, y }";
    expect((await tick(body)).pending.map((one) => one.kind === "steps" && one.steps[0]!.name)).toEqual(["a", "b"]);
    expect(await resultOf(body, ({ name, args }) => [name, args])).toEqual({ x: ["a", 1], y: ["b", 2] });
  });

  test("count as one call if they are equal", async () => {
    const body =
      "const [x, y] = await Promise.all([runStep('a', { p: 1, q: 2 }), runStep('a', { q: 2, p: 1 })]); x.p = 9; return y";
    expect((await tick(body)).pending).toHaveLength(1);
    expect(await resultOf(body)).toEqual({ p: 1, q: 2 });
    expect((await tick("await Promise.all([1, 2].map((n) => runStep('a', {}, { key: n })))")).pending).toHaveLength(2);
    expect((await tick("await Promise.all([runStep('a'), runStep('a', {})])")).pending).toHaveLength(1);
  });

  test("are requested if they have no result, and unused results are reported", async () => {
    const body = (second: string) => `await Promise.all([runStep('a', 1), runStep('b', ${second})])`;
    const first = await tick(body("{ n: 1 }"));
    const memo = answersTo(first.pending, () => 1);
    const again = await tick(body("{ n: 2 }"), memo);
    expect(again.pending).toHaveLength(1);
    expect(again.unusedKeys).toEqual([keys(first)[1]]);
    expect((await tick(body("{ n: 1 }"), memo)).unusedKeys).toEqual([]);
    // without a new call, unused results are not reported
    expect(await tick("return 1", memo)).toMatchObject({ end: { json: "1" }, unusedKeys: [] });
  });
});

describe("runStepMany", () => {
  test("requests each item once, and answers in the order of the items", async () => {
    const body = "return await ctx.runStepMany('a', [3, 1, 3, 2], { concurrency: 7 })";
    expect((await tick(body)).pending).toMatchObject([
      { kind: "steps", concurrency: 7, on_error: "fail", steps: [{ args: "3" }, { args: "1" }, { args: "2" }] },
    ]);
    expect(await resultOf(body, ({ args }) => Number(args) * 10)).toEqual([30, 10, 30, 20]);
    expect(await resultOf("return runStepMany('a', [])")).toEqual([]);
    expect((await tick("await runStepMany('a', [1])")).pending).toMatchObject([{ concurrency: 10 }]);
  });

  test("requests the items without a result", async () => {
    const body = "return runStepMany('a', [1, 2, 3])";
    const first = await tick(body);
    const again = await tick(body, answersTo(first.pending, () => 1).slice(1));
    expect(again.pending).toMatchObject([{ steps: [{ args: "1" }] }]);
  });

  test("does not share its items with a step with the same arguments", async () => {
    expect(keys(await tick("await Promise.all([runStep('a', 1), runStepMany('a', [1])])"))).toHaveLength(2);
  });

  test("shares equal items with another runStepMany", async () => {
    const { pending } = await tick("await Promise.all([runStepMany('a', [1, 2]), runStepMany('a', [2, 3])])");
    expect(pending).toMatchObject([{ steps: [{ args: "1" }, { args: "2" }] }, { steps: [{ args: "3" }] }]);
  });
});

describe("the failure of a step", () => {
  const failing = () => {
    throw new StepRejection("declined");
  };
  test("is a value with onError return", async () => {
    const failure = { ok: false, error: { message: "declined", code: "step_error" } };
    expect(await resultOf("return ctx.runStep('a', 1, { onError: 'return' })", failing)).toEqual(failure);
    expect(await resultOf("return ctx.runStep('a', 1, { onError: 'return' })", () => 5)).toEqual({
      ok: true,
      value: 5,
    });
    const some = ({ args }: { args: unknown }) => (args === 2 ? failing() : args);
    expect(await resultOf("return ctx.runStepMany('a', [1, 2], { onError: 'return' })", some)).toEqual([
      { ok: true, value: 1 },
      failure,
    ]);
    expect((await tick("await ctx.runStep('a', 1, { onError: 'return' })")).pending).toMatchObject([
      { on_error: "return" },
    ]);
  });

  test("is thrown with its code otherwise", async () => {
    const body =
      "await runStep('a', 1, { onError: 'return' }); try { await runStep('a', 1) } catch (e) { return [e.message, e.code] }";
    expect(await resultOf(body, failing)).toEqual(["declined", "step_error"]);
  });
});

test("a step can be called by its name or by its function", async () => {
  const js =
    "import { defineStep, runStep } from 'svc:workflow';\nconst charge = defineStep({}, () => 1);\nexport const steps = { first: charge, other() {} };\n" +
    "export const run = () => Promise.all([runStep(charge), runStep(steps.other, 1)]);";
  expect((await runner.tick(tickCallFor(js))).pending).toMatchObject([
    { steps: [{ name: "first" }] },
    { steps: [{ name: "other" }] },
  ]);
  expect(await end("await runStep(() => 1)")).toMatchObject({
    message: expect.stringMatching(/not one of the exported steps/),
  });
  expect(await end("await runStep('nope')")).toMatchObject({
    message: expect.stringMatching(/there is no step "nope"/),
    line: 3,
  });
  expect(await end("await runStep('toString')")).toMatchObject({ message: expect.stringMatching(/there is no step/) });
});

describe("approvals", () => {
  test("are requested with their defaults, and answered with the decision", async () => {
    const body =
      "return await ctx.awaitApproval('manager', { title: 'Pay?', expires_in: '3d', assignees: [{ group: 'finance' }] })";
    expect((await tick(body)).pending).toEqual([
      {
        kind: "approval",
        key: expect.stringMatching(/^[\w-]{22}$/),
        name: "manager",
        options: {
          title: "Pay?",
          body: null,
          form: null,
          assignees: [{ group: "finance" }],
          expires_in_ms: 259_200_000,
          on_expiry: "return",
          self_approval: true,
          api_key_may_decide: true,
        },
      },
    ]);
    expect(await resultOf(body, () => ({ approved: false, status: "rejected" }))).toEqual({
      approved: false,
      status: "rejected",
    });
    expect(await end("const { approved } = await awaitApproval('x'); return approved")).toEqual({ type: "suspended" });
  });

  test("differ by their options and by their key", async () => {
    const { pending } = await tick(
      "await Promise.all([awaitApproval('x', { title: 'a' }), awaitApproval('x', { title: 'b' }), awaitApproval('x', { title: 'a', key: '2' })])",
    );
    expect(new Set(pending.flatMap(keysOf)).size).toBe(3);
  });
});

describe("in run()", () => {
  test("a sleep is requested with its duration or its end", async () => {
    const { pending } = await tick(
      "await Promise.all([sleep('2h'), sleep(1500), sleepUntil('2031-01-01T00:00:00+01:00'), sleepUntil(new Date(0)), sleep('7200s'), sleep('2h', { key: 'again' })])",
    );
    expect(pending.map((one) => one.kind === "timer" && one.until)).toEqual([
      { in_ms: 7_200_000 },
      { in_ms: 1_500 },
      { at: "2030-12-31T23:00:00.000Z" },
      { at: "1970-01-01T00:00:00.000Z" },
      { in_ms: 7_200_000 },
    ]);
    expect(await resultOf("await sleep('1h'); await sleep('1h'); return 1")).toBe(1);
  });

  test("now() is fixed by its first call, and does not suspend", async () => {
    const body = "const first = ctx.now('start'); await runStep('a'); return [first, ctx.now('start'), ctx.now('end')]";
    expect(await resultOf(body)).toEqual([CREATED_AT + 60_000, CREATED_AT + 60_000, CREATED_AT + 61_000]);
    const { notes } = await tick("return [now('a'), now('a'), now('b')]");
    expect(notes.map(({ json }) => json)).toEqual([String(CREATED_AT + 60_000), String(CREATED_AT + 60_000)]);
  });

  test("the clock does not advance, and random numbers are the same on every tick", async () => {
    const body =
      "const seen = [Date.now(), new Date().toISOString(), Math.random(), Math.random()]; await runStep('a', seen); return seen";
    const seen = await resultOf(body);
    expect(seen.slice(0, 2)).toEqual([CREATED_AT, "2030-01-02T03:04:05.000Z"]);
    expect(seen[2]).not.toBe(seen[3]);
    for (const value of seen.slice(2)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
    }
    expect((await resultOf(body))[2]).not.toBe(seen[2]);
  });

  test("the top level of the module has the same clock, random numbers and arguments", async () => {
    const js =
      "const seen = [Date.now(), Math.random(), args.n, runId];\nexport const run = () => [seen, Math.random()]";
    const call = tickCallFor(js, { args: '{"n":7}' });
    const { end: first } = await runner.tick(call);
    expect((await runner.tick({ ...call, memo: [] })).end).toEqual(first);
    expect(first).toMatchObject({ json: expect.stringContaining(`[[${CREATED_AT},0.`) });
  });

  test("uuid() of a label is the same on every tick, and differs between runs", async () => {
    const body = "const id = ctx.uuid('x'); await runStep('a', id); return [id, ctx.uuid('x'), ctx.uuid('y')]";
    const [id, again, other] = await resultOf(body);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(again).toBe(id);
    expect(other).not.toBe(id);
    expect((await resultOf(body))[0]).not.toBe(id);
  });
});

test("the functions of ctx are also global", async () => {
  const result = await resultOf(
    "return [ctx.args === args, globalThis.args === args, ctx.runId === globalThis.runId, Object.isFrozen(ctx), args.n, ctx.log === log]",
    undefined,
    { n: 1 },
  );
  expect(result).toEqual([true, true, true, true, 1, true]);
});

test("every tick contains all lines that run() has logged, up to a limit", async () => {
  const body = "log('start', 1, { a: [1] }, undefined); await runStep('a'); log('end')";
  const logs = (await runThrough(runner, tickCallFor(moduleWithRun(body)))).map((outcome) => outcome.logs);
  expect(logs).toEqual([['start 1 {"a":[1]} undefined'], ['start 1 {"a":[1]} undefined', "end"]]);
  const { logs: many } = await tick("for (let n = 0; n < 300; n++) log('x'.repeat(1000))");
  expect(many).toHaveLength(262);
  expect(many.at(-1)).toMatch(/not kept/);
});

describe("an invalid argument is named:", () => {
  test.each([
    ["runStep('a', {}, 5)", /runStep: the options must be an object/],
    ["runStep('a', {}, { key: {} })", /runStep: key must be/],
    ["runStep('a', {}, { key: 'k'.repeat(201) })", /key must have 0 to 200 characters/],
    ["runStep('a', {}, { onError: 'ignore' })", /runStep: onError must be/],
    ["runStep(5)", /runStep: the first argument must be the name of a step/],
    ["runStepMany('a', 5)", /runStepMany: the items must be an array/],
    ["runStepMany('a', [], { concurrency: 0 })", /concurrency must be a whole number from 1 to 50/],
    ["runStepMany('a', [], { concurrency: 51 })", /concurrency/],
    ["runStepMany('a', [], { concurrency: '5' })", /concurrency/],
    ["runStepMany('a', Array(1001).fill(0).map((_, n) => n))", /more than 1000/],
    ["awaitApproval(5)", /awaitApproval: the name must be a string/],
    ["awaitApproval('')", /awaitApproval: the name must have 1 to 200/],
    ["awaitApproval('x', { title: 5 })", /awaitApproval: title must be/],
    ["awaitApproval('x', { body: 'x'.repeat(20000) })", /awaitApproval: body must be/],
    ["awaitApproval('x', { form: [] })", /awaitApproval: form must be/],
    ["awaitApproval('x', { assignees: [{ team: 'a' }] })", /awaitApproval: each of assignees/],
    ["awaitApproval('x', { assignees: [{ group: 'a', role: 'b' }] })", /awaitApproval: each of assignees/],
    ["awaitApproval('x', { expires_in: 'soon' })", /awaitApproval: expires_in: a duration/],
    ["awaitApproval('x', { on_expiry: 'retry' })", /awaitApproval: on_expiry must be/],
    ["awaitApproval('x', { self_approval: 'no' })", /awaitApproval: self_approval must be/],
    ["awaitApproval('x', { required: 0 })", /awaitApproval: required must be a whole number from 1 to 50/],
    ["awaitApproval('x', { required: 2, assignees: [{ person: 'a' }] })", /required is 2, but assignees names 1/],
    ["awaitApproval('x', { one_rejection_ends: 1 })", /awaitApproval: one_rejection_ends must be/],
    ["awaitApproval('x', { remind_after: 'soon' })", /awaitApproval: remind_after: a duration/],
    ["awaitApproval('x', { escalate: '2d' })", /awaitApproval: escalate must be {after, to}/],
    ["awaitApproval('x', { escalate: { after: '2d', to: [{ role: 'a' }] } })", /escalate needs assignees/],
    ["awaitApproval('x', { assignees: [{ role: 'a' }], escalate: { after: '2d', to: [] } })", /escalate.to must name/],
    ["awaitApproval('x', { tittle: 'x' })", /awaitApproval: tittle is not an option/],
    ["sleep('2 hours')", /sleep: a duration/],
    ["sleep(-1)", /sleep: a duration is from 0 to 365 days/],
    ["sleep(1e18)", /sleep: a duration is from 0 to 365 days/],
    ["sleep()", /sleep: a duration/],
    ["sleepUntil('tomorrow')", /sleepUntil: a time/],
    ["sleepUntil('2030-01-01')", /sleepUntil: a time/],
    ["sleepUntil('9999-12-31T23:59:59-10:00')", /years 1 to 9999/],
    ["sleepUntil('0001-01-01T00:00:00+10:00')", /years 1 to 9999/],
    ["sleepUntil('0000-06-01T00:00:00Z')", /years 1 to 9999/],
    ["sleepUntil(new Date(8.64e15))", /sleepUntil: a time/],
    ["now()", /now: the label must be a string/],
    ["uuid('')", /uuid: the label must have 1 to 200/],
  ])("%s", async (call, message) => {
    expect(await end(`await ${call}`)).toMatchObject({
      type: "failed",
      code: "run_error",
      message: expect.stringMatching(message),
      line: 3,
    });
  });
});
