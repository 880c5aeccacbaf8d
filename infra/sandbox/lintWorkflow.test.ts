import { parse } from "acorn";
import { describe, expect, test } from "vitest";
import { lintWorkflow } from "./lintWorkflow.ts";
import { mayCatchSignals, mayRaceCalls } from "./mayCatchSignals.ts";
import { stepPositions } from "./stepPositions.ts";

const parsed = (js: string) => parse(js, { ecmaVersion: "latest", sourceType: "module" });
const found = (js: string) =>
  lintWorkflow(parsed(js), js, ["a", "b"]).map(({ code, line, column }) => [code, line, column]);
const inRun = (body: string) => found(`export async function run(ctx, args) {\n${body}\n}`);

describe("a caught signal", () => {
  test.each([
    ["try and catch", 'try {\n  await ctx.runStep("a");\n} catch {}', [["caught_signal", 3, 9]]],
    ["try around many", "try { await runStepMany('a', []); } catch (e) { throw e }", [["caught_signal", 2, 13]]],
    ["try around a callback", "try { await Promise.all(args.map((x) => runStep('a', x))) } catch {}", 1],
    ["finally", "try { await ctx.awaitApproval('x') } finally { log(1) }", [["finally_at_signal", 2, 13]]],
    ["both", "try { await complete() } catch {} finally {}", 2],
    [".catch", "await ctx.runStep('a').then((x) => x).catch(() => 1)", [["caught_signal", 2, 7]]],
    ["a second handler", "await runStep('a').then((x) => x, () => 1)", [["caught_signal", 2, 7]]],
    [".finally", "await ctx.sleep('1h').finally(() => 1)", [["finally_at_signal", 2, 7]]],
    [
      "a try around a race",
      "try { await Promise.race([ctx.sleepUntil(args.at)]) } catch {}",
      [["caught_signal", 2, 27]],
    ],
  ])("is a warning in the case of %s", (_, body, expected) => {
    if (typeof expected === "number") expect(inRun(body)).toHaveLength(expected);
    else expect(inRun(body)).toEqual(expected);
  });

  test.each([
    ["a call in the handler", "try { JSON.parse(args.x) } catch { await ctx.runStep('a') }"],
    ["a call next to the try", "await ctx.runStep('a'); try { JSON.parse(args.x) } catch {}"],
    ["Promise.all", "await Promise.all([ctx.runStep('a'), ctx.runStep('b')])"],
    ["Promise.allSettled", "await Promise.allSettled([ctx.runStep('a'), ctx.runStep('b')])"],
    ["Promise.race", "await Promise.race([ctx.sleepUntil(args.at), other()])"],
    ["Promise.any", "await Promise.any([runStep('a')])"],
    [".then with one handler", "await ctx.runStep('a').then((x) => x.y)"],
    ["a complete() of another object", "try { await task.complete() } catch {}"],
  ])("is not reported for %s", (_, body) => {
    expect(inRun(body)).toEqual([]);
  });
});

test("a call is found by the name that the module imports it under, and by that of the context", () => {
  expect(found("import { runStep as go } from 'svc:workflow';\nexport async function run() { go('a') }")).toEqual([
    ["not_awaited", 2, 31],
  ]);
  expect(found("export async function run(context) { context.runStep('a') }")).toHaveLength(1);
});

test("a call that nothing awaits is a warning", () => {
  expect(inRun("ctx.runStep('a');")).toEqual([["not_awaited", 2, 1]]);
  expect(inRun("void complete(1);")).toEqual([["not_awaited", 2, 6]]);
  expect(inRun("const p = ctx.runStep('a'); await p; return ctx.complete()")).toEqual([]);
});

test("a clock or a random number in the arguments of a step is a warning", () => {
  expect(inRun("await ctx.runStep('a', { at: Date.now() })")).toEqual([["frozen_value", 2, 30]]);
  expect(inRun("await runStepMany('a', [new Date(), Math.random()])")).toEqual([
    ["frozen_value", 2, 25],
    ["frozen_value", 2, 37],
  ]);
  expect(inRun("await ctx.runStep('a', { at: new Date(args.at) }); Date.now()")).toEqual([]);
});

test("a sleep that is called again without a key is a warning", () => {
  expect(inRun("await ctx.sleep('1h');\nawait sleep('1h');")).toEqual([["equal_sleep", 3, 7]]);
  expect(inRun("for (const x of args) await ctx.sleep(1000);")).toEqual([["equal_sleep", 2, 29]]);
  expect(inRun("await ctx.sleep('1h'); await ctx.sleep('2h'); await ctx.sleep('1h', { key: '2' });")).toEqual([]);
  expect(inRun("for (const x of args) await ctx.sleep(x);")).toEqual([]);
});

test("an unknown step is a warning", () => {
  expect(inRun("await ctx.runStep('a');\nawait ctx.runStepMany('c', []);")).toEqual([["unknown_step", 3, 23]]);
  expect(inRun("await ctx.runStep(args.step)")).toEqual([]);
});

test("a reminder or an escalation after the expiry of its approval is a warning", () => {
  const asking = (terms: string) => inRun(`await ctx.awaitApproval("x", { title: "Go?",\n${terms} })`);
  expect(asking('expires_in: "2d", remind_after: "3d",\nescalate: { after: 172_800_000, to: [] }')).toEqual([
    ["late_time", 3, 33],
    ["late_time", 4, 20],
  ]);
  expect(asking('expires_in: "2d", remind_after: "1d", escalate: { after: args.after, to: [] }')).toEqual([]);
  expect(asking('remind_after: "30d", escalate: { after: "40d", to: [] }')).toEqual([]);
  expect(asking('...args.terms, expires_in: "2d", remind_after: wait("3d")')).toEqual([]);
});

test("a call of run() in a step is a warning", () => {
  expect(found("export const steps = { a: async (x, ctx) => { try { await runStep('b') } catch {} } }")).toEqual([
    ["signal_in_step", 1, 59],
  ]);
});

test("a source that nests deep is read, and the number of warnings is limited", () => {
  expect(lintWorkflow(parsed(`${"(".repeat(500)}1${")".repeat(500)}`), "", [])).toEqual([]);
  expect(inRun("ctx.runStep('a');".repeat(300))).toHaveLength(100);
});

test("the positions of steps are found", () => {
  const js = "export const steps = {\n  a: 1,\n  'b c': { d: 2 } };\nconst other = { e: 1 };";
  expect(stepPositions(parsed(js), js)).toEqual({ a: [2, 3], "b c": [3, 3] });
});

test.each([
  [
    false,
    `export const steps = { a: async () => { try { x(); } catch {} return [1].any; } };
    export async function run(ctx) { const all = await Promise.all([ctx.runStep("a"), ctx.runStep("b")]); return ctx.runStep("a", all).then((x) => x); }`,
  ],
  // its logs belong to the tick that was suspended
  [true, `export async function run(ctx) { try { return await ctx.runStep("a"); } finally { ctx.log("done"); } }`],
  [true, `export async function run(ctx) { return ctx.runStep("a").finally(() => ctx.complete(1)); }`],
  [true, `export async function run(ctx) { try { await ctx.runStep("a"); } catch {} }`],
  [
    true,
    `const safe = (promise) => promise.catch(() => 0); export async function run(ctx) { return safe(ctx.runStep("a")); }`,
  ],
  [true, `export async function run(ctx) { return ctx.runStep("a")["catch"](String); }`],
  [true, `export async function run(ctx) { return Promise["race"]([ctx.runStep("a")]); }`],
  [true, `export async function run(ctx) { return ctx.runStep("a").then((x) => x, () => 0); }`],
  [true, `export async function run(ctx) { return ctx.runStep("a")["then"]((x) => x, () => 0); }`],
  [true, `export async function run(ctx) { return ctx.runStep("a").then(...[(x) => x, () => 0]); }`],
  [true, `export async function run(ctx) { const p = ctx.runStep("a"); return p.then.call(p, (x) => x, () => 0); }`],
  [
    true,
    `export async function run(ctx) { const p = ctx.runStep("a"); const { then } = p; return then.call(p, 0, 0); }`,
  ],
  [true, `export async function run(ctx) { ctx.runStep("a"); return ctx.complete(1); }`],
  [true, `export async function run(ctx) { void ctx.runStep("a"); return ctx.complete(1); }`],
  [true, `export async function run(ctx) { const steps = [await ctx.runStep("a").catch(() => 0)]; return steps; }`],
  [false, `const steps = { a: () => { try { x(); } catch {} } }; export { steps }; export async function run(ctx) {}`],
  [true, `export async function run(ctx) { const { any } = Promise; return any.call(Promise, [ctx.runStep("a")]); }`],
  [true, "export async function run(ctx) { return eval(`try { await 0 } catch {}`); }"],
])("it is %s that run() may catch its signals in: %s", (catches, js) => {
  expect(mayCatchSignals(parsed(js))).toBe(catches);
});

test.each([
  [true, `export async function run(ctx) { return Promise.race([ctx.runStep("a")]); }`],
  [true, `export async function run(ctx) { return Promise["any"]([ctx.runStep("a")]); }`],
  [true, `export async function run(ctx) { const { allSettled } = Promise; return first(allSettled); }`],
  [false, `export async function run(ctx) { return Promise.all([ctx.runStep("a")]).catch(() => "race car"); }`],
  [
    false,
    `export const steps = { a: () => Promise.race([1]) }; export async function run(ctx) { return ctx.runStep("a"); }`,
  ],
  [true, `export async function run(ctx) { return Promise.all([ctx.agent("a", "b"), ctx.sleep("1d")]); }`],
  [true, `export const run = (ctx) => Promise.all([1].map(async (n) => { throw n; }));`],
  [
    true,
    `const must = (answer) => { if (!answer.approved) throw new Error("no"); };
    export async function run(ctx) { await Promise.all([ctx.awaitApproval("a").then(must), ctx.awaitApproval("b").then(must)]); }`,
  ],
  [
    false,
    `export async function run(ctx) { const ends = await Promise.all([ctx.runStep("a")]); if (ends[0] < 0) throw new Error("less"); }`,
  ],
  [
    false,
    `export const steps = { a: () => { throw new Error("no"); } };
    export const run = async (ctx) => { if (!ctx.args.a) throw new Error("no"); return Promise.all([ctx.runStep("a")]); };`,
  ],
  [false, `const check = () => { throw new Error("no"); }; export async function run(ctx) { return check(); }`],
])("it is %s that the order of answers counts in: %s", (ordered, js) => {
  expect(mayRaceCalls(parsed(js))).toBe(ordered);
});
