import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import type { MemoEntry, PendingCall, TickOutcome } from "#services/workflows/tick.ts";
import { keysOf, moduleWithRun, tickCallFor } from "./workflowCalls.ts";

/* Functions of Promise over calls of run(): a call without an answer is a promise that is pending (ADR 58). */

const runner = openWorkflows({ processes: 2 });
afterAll(() => runner.close());

const CALLS = `const boss = () => ctx.awaitApproval("boss", { title: "Go?" });
const other = () => ctx.awaitApproval("other", { title: "Go?" });
const nap = () => ctx.sleep("1h").then(() => "slept");
const paid = () => ctx.waitForEvent("paid");
const step = () => ctx.runStep("a");`;

const nameOf = (call: PendingCall): string =>
  call.kind === "steps" ? call.steps[0]!.name : "name" in call ? call.name : call.kind;

/** Ticks a run, and gives it these answers one after the other. Returns the outcomes; each tick must ask for the next answer. */
async function ticks(body: string, answers: [call: string, answer: unknown][]): Promise<TickOutcome[]> {
  const memo: MemoEntry[] = [];
  const call = tickCallFor(moduleWithRun(`${CALLS}\n${body}`), { ordered: true, memo });
  const outcomes = [await runner.tick(call)];
  for (const [name, answer] of answers) {
    const pending = outcomes.at(-1)!.pending.find((one) => nameOf(one) === name);
    expect(pending, `${name} is asked for`).toBeDefined();
    memo.push({ key: keysOf(pending!)[0]!, value: { json: JSON.stringify(answer) } });
    outcomes.push(await runner.tick(call));
  }
  return outcomes;
}
const last = async (body: string, answers: [call: string, answer: unknown][] = []) =>
  (await ticks(body, answers)).at(-1)!;
const completed = (result: unknown) => ({
  type: "completed",
  completion: expect.any(String),
  json: JSON.stringify(result),
});
const SUSPENDED = { type: "suspended" };
const [YES, NO] = [{ approved: true }, { approved: false }];

describe("Promise.race", () => {
  test.each<[title: string, calls: string, answer: [string, unknown], result: unknown]>([
    ["an approval that is listed first loses against a timer", "boss(), nap()", ["timer", null], "slept"],
    ["an approval wins against a timer", "nap(), boss()", ["boss", YES], YES],
    ["an event wins against a timer", "nap(), paid()", ["paid", { status: "received" }], { status: "received" }],
    ["the second of two approvals wins", "boss(), other()", ["other", NO], NO],
    ["a step wins against an approval", "boss(), step()", ["a", 7], 7],
    [
      "branches of several calls take part",
      "(async () => { await boss(); return step(); })(), nap()",
      ["timer", null],
      "slept",
    ],
    ["a value that is no call wins", "boss(), Promise.all([nap(), 2])", ["timer", null], ["slept", 2]],
    ["a race within a race counts as one", "Promise.race([boss(), other()]), nap()", ["timer", null], "slept"],
  ])("%s", async (_, calls, answer, result) => {
    const [first, second] = await ticks(`return Promise.race([${calls}])`, [answer]);
    expect([first!.end, first!.warnings]).toEqual([SUSPENDED, []]);
    expect([second!.end, second!.warnings]).toEqual([completed(result), []]);
  });

  test("the winner stays the winner on every later tick, even when the others are answered", async () => {
    const body = `const winner = await Promise.race([boss().then(() => "boss"), nap()]);
ctx.log(winner); await step(); return winner`;
    const outcomes = await ticks(body, [
      ["timer", null],
      ["boss", YES],
      ["a", 1],
    ]);
    expect(outcomes.map(({ logs }) => logs)).toEqual([[], ["slept"], ["slept"], ["slept"]]);
    expect(outcomes.at(-1)!.end).toEqual(completed("slept"));
  });

  test("the loser continues: it is requested, its answer comes later, and it does not keep the run open", async () => {
    const goesOn = await ticks("const pending = boss(); await Promise.race([pending, nap()]); return pending", [
      ["timer", null],
      ["boss", NO],
    ]);
    expect(goesOn[1]!.end).toEqual(SUSPENDED);
    expect(goesOn[2]!.end).toEqual(completed(NO));
    const explicit = await last("await Promise.race([boss(), nap()]); await ctx.complete(1)", [["timer", null]]);
    expect([explicit.end, explicit.warnings]).toEqual([completed(1), []]);
  });

  test("a call next to the race keeps the run open", async () => {
    expect((await last("ctx.runStep('b'); return Promise.race([boss(), nap()])", [["timer", null]])).end).toEqual(
      SUSPENDED,
    );
  });

  test("an error in a branch wins like an answer", async () => {
    const body = "await Promise.race([boss(), nap().then(() => { throw new Error('late') })])";
    expect((await last(body, [["timer", null]])).end).toMatchObject({ type: "failed", message: "late" });
  });

  test("of nothing is refused with its position", async () => {
    expect((await last("await Promise.race([])")).end).toMatchObject({
      type: "failed",
      code: "run_error",
      message: expect.stringMatching(/Promise\.race: the list is empty/),
    });
  });
});

describe("the other functions of Promise", () => {
  test("all waits for all values, and keeps their order", async () => {
    const outcomes = await ticks("await Promise.race([step()]); return Promise.all([nap(), boss(), 3])", [
      ["a", 1],
      ["boss", YES],
      ["timer", null],
    ]);
    expect(outcomes.map(({ end }) => end)).toEqual([SUSPENDED, SUSPENDED, SUSPENDED, completed(["slept", YES, 3])]);
  });

  test("all fails with the first error, even if other calls are open", async () => {
    const body =
      "try { await Promise.all([boss(), nap().then(() => { throw new Error('no') })]) } catch ({ message }) { return message } finally { Promise.race }";
    expect((await last(body, [["timer", null]])).end).toEqual(completed("no"));
  });

  test("allSettled waits for all values, and swallows no signal", async () => {
    const body = "return Promise.allSettled([nap(), boss().then(() => { throw 'no' })])";
    const [first, second, third] = await ticks(body, [
      ["timer", null],
      ["boss", YES],
    ]);
    expect([first!.end, second!.end, second!.warnings]).toEqual([SUSPENDED, SUSPENDED, []]);
    expect(third!.end).toEqual(
      completed([
        { status: "fulfilled", value: "slept" },
        { status: "rejected", reason: "no" },
      ]),
    );
  });

  test("any takes the first value, and fails if there is none", async () => {
    const fails = "nap().then(() => { throw new Error('no') })";
    const [, second, third] = await ticks(`return Promise.any([${fails}, boss()])`, [
      ["timer", null],
      ["boss", NO],
    ]);
    expect([second!.end, second!.warnings, third!.end]).toEqual([SUSPENDED, [], completed(NO)]);
    expect((await last(`return Promise.any([${fails}])`, [["timer", null]])).end).toMatchObject({ type: "failed" });
  });
});

test("answers reach branches in the order of the log on every tick", async () => {
  const body = `const order = []; Promise.race;
const note = (name) => (answer) => void order.push(name);
await Promise.all([boss().then(note("boss")), nap().then(note("nap")), step().then(note("step"))]);
return order`;
  expect(
    (
      await last(body, [
        ["timer", null],
        ["a", 1],
        ["boss", YES],
      ])
    ).end,
  ).toEqual(completed(["nap", "step", "boss"]));
});

describe("a branch continues while run() itself waits", () => {
  const asksFor = ({ pending }: TickOutcome) => pending.map(nameOf);
  const branch = (then: string) => `Promise.race; const w = (async () => { const x = await step(); ${then} })();`;

  test("for its next call, which does not wait for the answer that run() waits for", async () => {
    const [first, second, third, fourth] = await ticks(
      `${branch("return ctx.runStep('b', { x })")} const { data } = await paid(); return [data, await w]`,
      [
        ["a", 1],
        ["b", 2],
        ["paid", { data: 3 }],
      ],
    );
    expect([first, second, third].map((one) => asksFor(one!))).toEqual([["a", "paid"], ["paid", "b"], ["paid"]]);
    expect(fourth!.end).toEqual(completed([3, 2]));
  });

  test("to the end of the run, if it calls complete(); nothing is delivered after that", async () => {
    const memo: MemoEntry[] = [];
    const other = "(async () => { await nap(); ctx.log('slept'); })();";
    const body = `${CALLS}\n${branch("await ctx.complete(x)")} ${other} await paid()`;
    const call = tickCallFor(moduleWithRun(body), { ordered: true, memo });
    const [first, ...rest] = (await runner.tick(call)).pending;
    expect([first!, ...rest].map(nameOf)).toEqual(["a", "timer", "paid"]);
    for (const one of [first!, rest[0]!]) memo.push({ key: keysOf(one)[0]!, value: { json: "1" } });
    const { end, logs } = await runner.tick(call);
    expect([end, logs]).toEqual([completed(1), []]);
  });

  test("but not once run() has returned or failed", async () => {
    const logged = branch("ctx.log(x)");
    const failed = await last(`${logged} throw new Error("no")`, [["a", 1]]);
    expect([failed.end, failed.logs]).toEqual([expect.objectContaining({ type: "failed", message: "no" }), []]);
    const returned = await last(`${logged} return 7`, [["a", 1]]);
    expect([returned.end, returned.logs]).toEqual([completed(7), []]);
  });
});

/** Branches beside run(), each a list of calls; `main`: the calls of run() itself, before it waits for the branches. */
interface Concurrent {
  branches: number[];
  main: number;
  /** Whether run() waits for the branches together, or for one after the other. */
  together: boolean;
  order: number[];
}
const concurrent: fc.Arbitrary<Concurrent> = fc.record({
  branches: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  main: fc.integer({ min: 0, max: 3 }),
  together: fc.boolean(),
  order: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
});

test("each branch requests its next call at once and takes the same path on every tick, in whatever order calls are answered", async () => {
  const body = `Promise.race;
const line = async (of, calls) => {
  for (let n = 0; n < calls; n++) ctx.log(of, n, await ctx.waitForEvent(of + n));
};
const open = args.branches.map((calls, n) => line("branch " + n + " ", calls));
await line("run ", args.main);
if (args.together) await Promise.all(open);
else for (const one of open) await one;
return "done";`;
  await fc.assert(
    fc.asyncProperty(concurrent, async ({ branches, main, together, order }) => {
      const memo: MemoEntry[] = [];
      const args = JSON.stringify({ branches, main, together });
      const call = tickCallFor(moduleWithRun(body), { ordered: true, args, memo });
      const lines = [...branches.map((calls, n) => ({ of: `branch ${n} `, calls })), { of: "run ", calls: main }];
      const next = lines.map(({ of, calls }) => ({ of, calls, n: 0 }));
      let logs: string[] = [];
      for (let n = 0; ; n++) {
        const outcome = await runner.tick(call);
        const waiting = next.filter((line) => line.n < line.calls);
        expect(outcome.logs.slice(0, logs.length)).toEqual(logs);
        ({ logs } = outcome);
        expect(logs).toHaveLength(n);
        if (waiting.length === 0) {
          expect(outcome.end).toEqual(completed("done"));
          return;
        }
        expect(new Set(outcome.pending.map(nameOf))).toEqual(new Set(waiting.map((line) => line.of + line.n)));
        const line = waiting[order[n]! % waiting.length]!;
        const pending = outcome.pending.find((one) => nameOf(one) === line.of + line.n)!;
        memo.push({ key: keysOf(pending)[0]!, value: { json: String(n) } });
        line.n += 1;
      }
    }),
    { numRuns: 60 },
  );
});

test("a thousand answers are delivered in order within a tick", async () => {
  const body =
    "Promise.race; const all = await Promise.all(Array.from({ length: 1000 }, (_, n) => ctx.runStep('a', n))); return all.length";
  const memo: MemoEntry[] = [];
  const call = tickCallFor(moduleWithRun(body), { ordered: true, memo });
  const { pending } = await runner.tick(call);
  for (const one of pending.toReversed()) memo.push({ key: keysOf(one)[0]!, value: { json: "1" } });
  expect((await runner.tick(call)).end).toEqual(completed(1_000));
});
