import { afterAll, describe, expect, test } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import type { TickOutcome } from "#services/workflows/tick.ts";
import { tickCallFor, moduleWithRun } from "./workflowCalls.ts";

/* Spec, Workflow run status, rule 4: code that catches the signal of a call swallows it. The run continues with a warning. */

const runner = openWorkflows({ processes: 2 });
afterAll(() => runner.close());
const tick = (body: string): Promise<TickOutcome> => runner.tick(tickCallFor(moduleWithRun(body)));

const CALLS = {
  runStep: "ctx.runStep('a', 1)",
  runStepMany: "ctx.runStepMany('a', [1, 2])",
  awaitApproval: "ctx.awaitApproval('boss')",
  sleep: "ctx.sleep('1h')",
};
const SWALLOWS: Record<string, (call: string) => string> = {
  try: (call) => `try { await ${call} } catch {}`,
  ".catch": (call) => `await ${call}.catch(() => 1)`,
  "a second handler": (call) => `await ${call}.then((x) => x, () => 1)`,
  allSettled: (call) => `await Promise.allSettled([${call}])`,
  race: (call) => `await Promise.race([Promise.resolve(1), ${call}])`,
  "a return in finally": (call) => `await (async () => { try { await ${call} } finally { return 1 } })()`,
};
const matrix = Object.entries(CALLS).flatMap(([name, call]) =>
  Object.entries(SWALLOWS).map(([how, swallow]) => [how, name, swallow(call)] as const),
);
const warned = (name: string) => [
  { code: "signal_swallowed", call: expect.stringContaining(name), line: 3, message: expect.stringContaining(name) },
];

describe("a warning names a signal that was swallowed before complete()", () => {
  test.each(matrix)("by %s around %s", async (_, name, swallow) => {
    const { end, warnings } = await tick(`${swallow};\nawait ctx.complete('continued')`);
    expect(end).toEqual({ type: "completed", completion: "explicit", json: '"continued"' });
    expect(warnings).toEqual(warned(name));
  });
});

describe("a warning names a signal that was swallowed before run() returned", () => {
  test.each(matrix)("by %s around %s", async (_, name, swallow) => {
    const { end, warnings, pending } = await tick(`${swallow};\nreturn 'continued'`);
    // the call is outstanding
    expect(end).toEqual({ type: "suspended" });
    expect(pending).toHaveLength(1);
    expect(warnings).toEqual(warned(name));
  });
});

describe("a warning names a signal that was swallowed before an error", () => {
  test.each(matrix)("by %s around %s", async (_, name, swallow) => {
    const { end, warnings } = await tick(`${swallow};\nthrow new Error('continued')`);
    expect(end).toMatchObject({ type: "failed", code: "run_error", message: "continued", line: 4 });
    expect(warnings).toEqual(warned(name));
  });
});

describe("the signal of complete() is swallowed", () => {
  test.each(Object.entries(SWALLOWS))(
    "by %s: the first complete() counts, and there is a warning",
    async (_, swallow) => {
      const { end, warnings, pending } = await tick(
        `${swallow("ctx.complete(1)")};\nctx.runStep('b').catch(() => {}); return 2`,
      );
      expect(end).toEqual({ type: "completed", completion: "explicit", json: "1" });
      expect(pending.length).toBeLessThanOrEqual(1);
      expect(warnings[0]).toMatchObject({ code: "signal_swallowed", call: "complete()", line: 3 });
    },
  );
});

describe("there is no warning for", () => {
  test.each<[string, string]>([
    ["a call that is awaited", "await ctx.runStep('a')"],
    [
      "several calls that are awaited together",
      "await Promise.all([ctx.runStep('a'), ctx.runStep('b'), ctx.sleep('1h')])",
    ],
    ["calls that are awaited later", "const x = ctx.runStep('a'), y = ctx.runStep('b'); await x; await y"],
    ["a call that nothing awaits", "ctx.runStep('a'); return 1"],
    ["a call whose value would be used", "ctx.runStep('a').then((x) => x + 1); return 1"],
    ["a finally that lets the signal pass", "try { await ctx.runStep('a') } finally { ctx.log('again') }"],
    ["a catch that rethrows the signal", "try { await ctx.runStep('a') } catch (e) { throw e }"],
    ["a race of calls", "await Promise.race([ctx.runStep('a'), ctx.runStep('b')])"],
    ["complete()", "await ctx.complete(1)"],
    ["complete() that is returned", "return ctx.complete(1)"],
    ["complete() next to a call", "await Promise.all([ctx.runStep('a'), ctx.complete(1)])"],
    ["calls after complete()", "await Promise.all([ctx.complete(1), ctx.runStep('a')])"],
    [
      "complete() of another branch",
      "await Promise.all([ctx.runStep('a'), (async () => { await null; await complete(1) })()])",
    ],
  ])("%s", async (_, body) => {
    const { end, warnings } = await tick(body);
    expect(end.type).not.toBe("failed");
    expect(warnings).toEqual([]);
  });
});

describe("a signal within another error", () => {
  test.each([
    ["as its cause", "try { await ctx.runStep('a') } catch (cause) { throw new Error('wrapped', { cause }) }"],
    ["in a list of errors", "await Promise.any([ctx.runStep('a')])"],
    ["at a depth", "try { await ctx.runStep('a') } catch (cause) { throw { cause: new Error('x', { cause }) } }"],
  ])("%s fails the run, and the message names it", async (_, body) => {
    const { end, warnings } = await tick(body);
    expect(end).toMatchObject({
      type: "failed",
      code: "run_error",
      message: expect.stringMatching(/contains the signal of runStep\("a"\)/),
    });
    expect(warnings).toEqual([{ code: "nested_signal", call: 'runStep("a")', line: 3, message: expect.any(String) }]);
  });
});

test("there is one warning per position, and at most ten", async () => {
  const { warnings } = await tick(
    "for (let n = 0; n < 5; n++) await ctx.runStep('a', n).catch(() => {});\nawait ctx.runStep('b').catch(() => {}); await complete()",
  );
  expect(warnings.map(({ line }) => line)).toEqual([3, 4]);
  const lines = Array.from({ length: 30 }, (_, n) => `await ctx.runStep('a', ${n}).catch(() => {})`).join("\n");
  expect((await tick(`${lines}\nawait complete()`)).warnings).toHaveLength(10);
});

test("a signal is an error with a name and a message", async () => {
  const { end } = await tick(
    "const seen = []; for (const p of [ctx.runStep('a'), ctx.complete()]) try { await p } catch (e) { seen.push([e instanceof Error, e.name, e.message]) } throw JSON.stringify(seen)",
  );
  expect(end).toMatchObject({ type: "completed" });
  const caught = await tick(
    "try { await ctx.runStep('a') } catch (e) { throw [e instanceof Error, e.name, e.message].join() }",
  );
  expect(caught.end).toMatchObject({
    message: 'true,WorkflowSuspend,runStep("a") suspends run() until it has a result.',
  });
});
