import { describe, expect, test } from "vitest";
import { openWorkflows, workflowSource } from "./harness.ts";

/* The identity of calls in run(), and their results on every tick. */

const w = await openWorkflows();

/** Runs a body of run() with the step `echo`, which returns its arguments, and `next`, which adds 1. */
const run = (body: string, more = "", args: object = {}) =>
  w.home.run(workflowSource(body, `echo: (args) => args, next: ({ n }) => n + 1, ${more}`), args);
const named = ({ steps }: any, name: string): any[] => steps.filter((step: any) => step.name === name);

describe("calls of run()", () => {
  test("are the same call if their arguments are equal as JSON, whatever their key order or class", async () => {
    const record = await run(`
      class Order { constructor() { this.b = 2; this.a = 1; } }
      const same = [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1, b: 2, c: undefined }, new Order(), { a: 1, b: 2, toJSON: undefined }];
      const dates = [{ at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }];
      const others = [{ a: "1", b: 2 }, { a: 1, b: 2, c: null }, [1, 2], [2, 1]];
      for (const each of [...same, ...dates, ...others]) await ctx.runStep("echo", each);
      return "done";`);
    expect(record.status).toBe("completed");
    expect(named(record, "echo").map(({ result }) => result)).toEqual([
      { a: 1, b: 2 },
      { at: "1970-01-01T00:00:00.000Z" },
      { a: "1", b: 2 },
      { a: 1, b: 2, c: null },
      [1, 2],
      [2, 1],
    ]);
    expect(record.warnings).toEqual([]);
  });

  test("that are equal share one execution unless a key distinguishes them", async () => {
    const record = await run(`
      const equal = await Promise.all([1, 2, 3].map(() => ctx.runStep("echo", { same: true })));
      await ctx.runStep("echo", { same: true });
      await ctx.runStep("echo", { same: true }, { key: "2" });
      await ctx.runStep("echo", { same: true }, { key: 2 });
      const items = await ctx.runStepMany("next", [{ n: 1 }, { n: 5 }, { n: 1 }]);
      const more = await ctx.runStepMany("next", [{ n: 5 }, { n: 7 }]);
      return { equal: equal.length, items, more };`);
    expect(record.result).toEqual({ equal: 3, items: [2, 6, 2], more: [6, 8] });
    expect([named(record, "echo").length, named(record, "next").length]).toEqual([2, 3]);
  });

  test("with the time or random values in their arguments are identical on every tick", async () => {
    const record = await run(`
      const told = { at: Date.now(), day: new Date(), chance: Math.random(), id: ctx.uuid("id"), began: ctx.now("began") };
      const first = await ctx.runStep("echo", told);
      for (let n = 0; n < 3; n++) await ctx.runStep("next", { n });
      return [first, await ctx.runStep("echo", told)];`);
    expect([record.status, named(record, "echo").length, record.counts.ticks]).toEqual(["completed", 1, 5]);
    const [first, again] = record.result;
    expect(again).toEqual(first);
    expect([first.at, Date.parse(first.day)]).toEqual(Array(2).fill(Date.parse(record.created_at)));
    const other = await run(`return { chance: Math.random(), id: ctx.uuid("id"), other: ctx.uuid("other") };`);
    expect([other.result.chance, other.result.id, other.result.other]).not.toContain(first.chance);
    expect(new Set([first.id, other.result.id, other.result.other]).size).toBe(3);
  });

  test("whose arguments change between ticks fail the run", async () => {
    const record = await run(`
      let n = 0;
      for (let known = true; known; n += known ? 1 : 0) await ctx.runStep("next", { n }).catch(() => (known = false));
      await ctx.runStep("echo", { n });`);
    expect([record.status, record.error_info.code]).toEqual(["failed", "memo_thrash"]);
    expect(record.error).toContain("The step echo");
    expect(record.warnings.map(({ code }: any) => code)).toContain("step_args_changed");
    expect(record.counts.steps).toBeLessThan(60);
  });

  test.each([
    ["NaN", "{ a: { b: NaN } }", "NaN at /a/b"],
    ["infinity", "[1, Infinity]", "Infinity at /1"],
    ["a function", "{ 'x/y': () => 1 }", "a function at /x~1y"],
    ["a big number", "{ n: 1n }", "a bigint at /n"],
    ["a cycle", "(() => { const a = {}; a.a = a; return a; })()", "a cycle at /a"],
  ])("are refused with the position of %s, which JSON cannot express", async (_, args, place) => {
    const record = await run(`await ctx.runStep("echo", ${args});`);
    expect([record.status, record.error_info.code, record.steps]).toEqual(["failed", "not_serialisable", []]);
    expect(record.error).toContain(`The arguments of the step "echo": not serialisable, ${place}.`);
  });
});

test("a result of a call is identical on the tick that receives it first and on every later one", async () => {
  const record = await run(
    `const told = (value) => Object.entries(value).map(([name, one]) => [name, typeof one, Object.prototype.toString.call(one), Object.is(one, -0)]);
    const value = await ctx.runStep("odd", {});
    value.changed = "only here";
    const fresh = await ctx.runStep("echo", told(value));
    await ctx.runStep("next", { n: 1 });
    const [again] = await ctx.runStepMany("odd", [{ many: true }]);
    return { fresh, replayed: told(value), again: told(again) };`,
    `odd: () => ({
      date: new Date(0), map: new Map([[1, 2]]), none: undefined, minus: -0, list: [undefined, , 1], own: { toJSON: () => "own" }, text: new String("s"),
    })`,
  );
  const plain = [
    ["date", "string", "[object String]", false],
    ["map", "object", "[object Object]", false],
    ["minus", "number", "[object Number]", false],
    ["list", "object", "[object Array]", false],
    ["own", "string", "[object String]", false],
    ["text", "string", "[object String]", false],
  ];
  const changed = [...plain, ["changed", "string", "[object String]", false]];
  expect(record.result).toEqual({ fresh: changed, replayed: changed, again: plain });
  expect([named(record, "echo").length, record.warnings]).toEqual([1, []]);
});

test("an error of a step is identical on every tick", async () => {
  const record = await run(
    `const first = await ctx.runStep("fail", {}, { onError: "return" });
    const seen = await ctx.runStep("echo", first);
    const many = await ctx.runStepMany("fail", [{ n: 1 }, { n: 2 }], { onError: "return" });
    return { first, seen, many };`,
    `fail: ({ n }) => { if (n === 2) return "fine"; throw new NonRetryableError("no" + (n ?? "")); }`,
  );
  const failed = (message: string) => ({ ok: false, error: { message, code: "step_error" } });
  const first = failed("NonRetryableError: no");
  expect(record.result).toEqual({
    first,
    seen: first,
    many: [failed("NonRetryableError: no1"), { ok: true, value: "fine" }],
  });
  expect(named(record, "echo")).toHaveLength(1);
});

describe("a suspension that run() catches", () => {
  const STEP = `ctx.runStep("next", { n: 1 })`;
  const MANY = `ctx.runStepMany("next", [{ n: 1 }])`;
  const APPROVAL = `ctx.awaitApproval("boss", { title: "Go?" })`;
  test.each([
    ["runStep in try/catch", `try { await ${STEP}; } catch { return ctx.complete("caught"); }`, "caught"],
    ["runStepMany in .catch()", `return ctx.complete(await ${MANY}.catch(() => "caught"));`, "caught"],
    ["awaitApproval in try/catch", `try { await ${APPROVAL}; } catch { return ctx.complete("caught"); }`, "caught"],
  ])("%s before complete() completes the run with a warning and starts no step", async (_, body, result) => {
    const record = await run(body);
    expect([record.status, record.result]).toEqual(["completed", result]);
    expect(record.warnings.map(({ code }: any) => code)).toEqual(["signal_swallowed"]);
    expect([record.steps, record.counts.ticks, await w.home.approvals(record.id)]).toEqual([[], 1, []]);
  });

  test.each([
    [
      "allSettled(), which waits for the call",
      `return (await Promise.allSettled([${STEP}]))[0].status;`,
      "fulfilled",
      2,
    ],
    [
      "any(), which continues at once when something else has won",
      `return ctx.complete(await Promise.any([ctx.sleep("1h"), Promise.resolve("won")]));`,
      "won",
      1,
    ],
  ])("is not swallowed in %s, and there is no warning", async (_, body, result, ticks) => {
    const record = await run(body);
    expect([record.status, record.result, record.counts.ticks]).toEqual(["completed", result, ticks]);
    expect(record.warnings).toEqual([]);
  });

  test("before a return makes the run wait for the call, with a warning", async () => {
    const record = await run(`return ${STEP}.catch(() => "caught");`);
    expect([record.status, record.result, record.counts.ticks]).toEqual(["completed", 2, 2]);
    expect(record.warnings.map(({ code }: any) => code)).toEqual(["signal_swallowed"]);
  });

  test("from complete() leaves its result, and later calls are ignored", async () => {
    const record = await run(
      `try { await ctx.complete("first"); } catch {} await ctx.runStep("next", { n: 1 }).catch(() => 0); await ctx.complete("second");`,
    );
    expect([record.status, record.result, record.steps]).toEqual(["completed", "first", []]);
  });

  test("with finally only is not swallowed, and the block runs on each tick", async () => {
    const record = await run(`try { return await ${STEP}; } finally { ctx.log("tidied"); }`);
    expect([record.result, record.logs.length, record.warnings]).toEqual([2, 1, []]);
  });

  test("and rethrows inside another error fails the run with the reason", async () => {
    const record = await run(`try { await ${STEP}; } catch (error) { throw new Error("wrapped", { cause: error }); }`);
    expect([record.status, record.error]).toEqual(["failed", expect.stringMatching(/^wrapped .*runStep\("next"\)/)]);
    expect(record.warnings.map(({ code }: any) => code)).toEqual(["nested_signal"]);
  });
});

test("a waiting run stays on the definition version that it started with, and new runs use the new one", async () => {
  const { home } = w;
  const source = (version: number) =>
    workflowSource(
      `const before = await ctx.runStep("say", {}); await ctx.awaitApproval("boss", { title: "v${version}" });
      return [before, await ctx.runStep("after", {})];`,
      `say: () => ${version}, after: () => "after ${version}"`,
    );
  const workflow = await home.register(source(1));
  const first = await home.start(workflow);
  await home.pending(first);
  const { id } = workflow.definition;
  const saved = await home.made(home.owner("PATCH", `/definitions/${id}`, { source: source(2) }));
  expect(saved).toMatchObject({
    version: 2,
    pinned_workflows: [{ id: workflow.id, definition_version: 1 }],
    notice: expect.stringContaining('{"definition_version": null}'),
  });
  const second = await home.start(workflow);
  await home.edit(workflow, { definition_version: null });
  expect(await home.made(home.owner("PATCH", `/definitions/${id}`, {}))).toMatchObject({
    version: 3,
    pinned_workflows: [{ definition_version: 2 }],
  });
  const third = await home.start(workflow);
  for (const run of [first, second, third]) await home.decide((await home.pending(run))[0]);
  const records = await Promise.all([first, second, third].map((one) => home.untilOver(one)));
  expect(records.map(({ definition_version, result }) => [definition_version, result])).toEqual([
    [1, [1, "after 1"]],
    [1, [1, "after 1"]],
    [2, [2, "after 2"]],
  ]);
});
