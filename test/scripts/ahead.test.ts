import { afterAll, describe, expect, test } from "vitest";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { openWorkflows } from "#infra/scripts/workflows/openWorkflows.ts";
import {
  StepFailure,
  type MemoEntry,
  type StepCall,
  type StepHost,
  type TickOutcome,
} from "#services/workflows/tick.ts";
import { callOf, HOST } from "./ticking.ts";

/* Steps that ask nothing of the platform are run in the same breath as the tick, and a run comes to the same without that. */

const CPU_MS = 500;
const runner = openWorkflows({ processes: 1, cpu_ms: CPU_MS });
afterAll(() => runner.close());

const RUN_AS = { type: "service" as const, id: null };
const MOST_RESULT = 100_000;
const GONE = AbortSignal.abort();

/** A module with these steps, whose run() has this body. */
const moduleOf = (steps: string, run: string): string =>
  `export const steps = {\n${steps}\n};\nexport async function run(ctx, args) {\n${run}\n}`;

interface Went {
  end: TickOutcome["end"];
  ticks: number;
  /** Of run(), and of its steps. */
  logs: string[];
  /** What was asked, in its order: names and arguments. */
  asked: string[];
  /** What each step came to. */
  came: string[];
  notes: string[];
  memo: MemoEntry[];
  run_id: string;
  /** Steps that had been run when they were asked for. */
  early: number;
}
interface How {
  ahead?: boolean;
  run_id?: string;
  organization_id?: string;
  host?: StepHost;
  most?: number;
  /** Before each tick. */
  between?(memo: MemoEntry[]): MemoEntry[];
}

/** Has a run go to its end as a coordinator does that has one step at a time. */
async function go(js: string, { ahead = true, host = HOST, most = 400, between = (memo) => memo, ...more }: How = {}) {
  const call = callOf(js, more);
  const { organization_id, run_id, sha256 } = call;
  const nothing = { logs: [], asked: [], came: [], notes: [], memo: [] };
  const went: Went = { end: { type: "suspended" }, ticks: 0, run_id, early: 0, ...nothing };
  for (const stepLogs: string[] = []; went.ticks < most; ) {
    went.memo = between(went.memo);
    const { memo } = went;
    const told = { ...call, memo, ...(ahead && { ahead: { run_as: RUN_AS, max_result_bytes: MOST_RESULT } }) };
    const outcome = await runner.tick(told);
    went.ticks += 1;
    Object.assign(went, { end: outcome.end, logs: [...outcome.logs, ...stepLogs] });
    const known = new Set(memo.map(({ key }) => key));
    const notes = outcome.notes.filter(({ key }) => !known.has(key));
    went.notes.push(...notes.map(({ json }) => json));
    memo.push(...notes.map(({ key, json }) => ({ key, value: { json } })));
    if (outcome.end.type !== "suspended") break;
    const steps = outcome.asked.flatMap((one) => (one.kind === "steps" ? one.steps : []));
    for (const { key, name, args } of steps) {
      if (known.has(key)) continue;
      went.asked.push(`${name} ${args}`);
      const attempt = { attempt: 1, step_id: stepId(run_id, key), idempotency_key: idempotencyKey(run_id, key) };
      const one: StepCall = {
        organization_id,
        js,
        sha256,
        step: name,
        args,
        host,
        context: { run_id, run_as: RUN_AS, ...attempt },
        timeout_ms: 20_000,
        max_result_bytes: MOST_RESULT,
        signal: new AbortController().signal,
      };
      // what was run ahead is there, whether it is wanted or not
      const early = await runner.step({ ...one, signal: GONE }).catch(() => undefined);
      if (early) went.early += 1;
      const value = await (early ? Promise.resolve(early) : runner.step(one)).then(
        ({ json, logs }) => {
          stepLogs.push(...logs);
          return { json };
        },
        ({ code, message }: StepFailure) => ({ error: { code, message } }),
      );
      went.came.push(JSON.stringify(value));
      memo.push({ key, value });
    }
  }
  return went;
}
/** What it came to, which must have been something. */
function resultOf({ end }: Pick<Went, "end">): unknown {
  if (end.type !== "completed") throw new Error(`it came to ${JSON.stringify(end)}`);
  return JSON.parse(end.json);
}
/** What can be seen of a run from outside. */
const seen = ({ end, ticks, logs, asked, came }: Went) => ({ end, ticks, logs, asked, came });

const ADD = "add: ({ n, sum }, ctx) => { ctx.log('step', n); return sum + n; },";
const SUMS =
  "let sum = 0; for (let n = 1; n <= 300; n++) { if (n % 100 === 0) ctx.log('at', n); sum = await ctx.runStep('add', { n, sum }); } return ctx.complete(sum);";

describe("a run of steps that ask nothing", () => {
  test("comes to the same as without running ahead, in as many ticks", async () => {
    const js = moduleOf(ADD, SUMS);
    const ahead = await go(js);
    expect(ahead.early).toBeGreaterThan(0);
    const one = await go(js, { ahead: false });
    expect(one.early).toBe(0);
    expect([resultOf(ahead), ahead.ticks]).toEqual([45_150, 301]);
    expect(seen(ahead)).toEqual(seen(one));
  });

  test("may end at once, with an error, or in a wait", async () => {
    const end = async (run: string) => {
      const [ahead, one] = [
        await go(moduleOf(ADD, run), { most: 3 }),
        await go(moduleOf(ADD, run), { ahead: false, most: 3 }),
      ];
      expect(seen(ahead)).toEqual(seen(one));
      return ahead.end;
    };
    const add = "await ctx.runStep('add', { n: 1, sum: 1 });";
    expect(await end(`return ${add}`)).toMatchObject({ completion: "implicit", json: "2" });
    expect(await end(`${add} throw new RangeError("late")`)).toMatchObject({
      type: "failed",
      message: "RangeError: late",
      line: 5,
    });
    expect(await end(`${add} await new Promise(() => {})`)).toMatchObject({ code: "run_stuck" });
    expect(await end(`${add} for (;;) {}`)).toMatchObject({ code: "run_timeout" });
    expect(await end(`${add} await ctx.sleep("1h")`)).toEqual({ type: "suspended" });
    expect(await end(`${add} return () => 1`)).toMatchObject({ type: "failed", message: /not serialisable/ });
  });

  test("fixes times, ids and chance as they come, and finds them again", async () => {
    const run = `const told = [];
      for (let n = 0; n < 40; n++) {
        told.push([ctx.now("t" + n), ctx.uuid("u" + n), Math.random(), Date.now()]);
        told.push(await ctx.runStep("add", { n, sum: Math.floor(Math.random() * 1e9) }));
      }
      return ctx.complete(told);`;
    const js = moduleOf(ADD, run);
    const went = await go(js);
    const result = resultOf(went);
    expect(went.notes).toHaveLength(40);
    // read back from what is on record, by a thread that has never seen it
    const again = await runner.tick(
      callOf(js, { ...callOf(js), run_id: went.run_id, memo: structuredClone(went.memo) }),
    );
    expect(resultOf(again)).toEqual(result);
  });

  test("may fix more values in all than it may between two steps", async () => {
    // what takes long before the first step lets more of them be run ahead
    const run = `for (let n = 0; n < 1e6; n++);
      for (let n = 0; n < 60; n++) {
        for (let m = 0; m < 50; m++) ctx.now(n + "/" + m);
        await ctx.runStep("add", { n, sum: 0 });
      }
      return ctx.complete("all");`;
    for (const ahead of [true, false]) expect(resultOf(await go(moduleOf(ADD, run), { ahead }))).toBe("all");
  });

  test("is done again from wherever it was lost, and comes to the same", async () => {
    const js = moduleOf(
      "draw: ({ n }) => n * n,",
      SUMS.replaceAll("'add', { n, sum }", "'draw', { n, at: Date.now() }"),
    );
    const whole = await go(js);
    for (const kept of [0, 1, 17, 299]) {
      let isLost = false;
      const lose = (memo: MemoEntry[]): MemoEntry[] => {
        if (isLost || memo.length < kept + 3) return memo;
        isLost = true;
        // what had not been recorded is gone, and whoever goes on has another list
        return memo.slice(0, kept);
      };
      const went = await go(js, { run_id: whole.run_id, between: lose });
      expect([went.end, went.memo]).toEqual([whole.end, whole.memo]);
    }
  });
});

describe("a step that cannot be run ahead", () => {
  test.each([
    ["asks", "return (await ctx.secrets.get('x')).length", { json: "11" }],
    ["asks only sometimes", "return args.n % 2 ? (await ctx.fetch('https://a.example')).status : 1", { json: "200" }],
    ["asks and does not wait", "void ctx.secrets.get('x').catch(() => {}); return 1", { json: "1" }],
    ["throws", "throw new TypeError('no')", { error: { message: "TypeError: no" } }],
    ["waits for what never comes", "await new Promise(() => {})", { error: { code: "step_error" } }],
    ["computes for long", "const end = Date.now() + 50; while (Date.now() < end); return 1", { json: "1" }],
    ["loops", "for (;;) {}", { error: { code: "step_limit" } }],
    [
      "needs too much memory",
      "const all = []; for (;;) all.push(new Uint8Array(8e6).fill(1))",
      { error: { code: "step_limit" } },
    ],
    ["needs much memory", "return new Uint8Array(3e7).fill(1).length", { json: "30000000" }],
    ["gives too much", `return "x".repeat(${MOST_RESULT})`, { error: { code: "step_result_too_large" } }],
    ["gives what JSON does not know", "return { n: NaN }", { error: { code: "step_error" } }],
  ])(
    "%s: it comes to what it comes to by itself, and the run goes on",
    async (_, body, came) => {
      const steps = `${ADD} odd: async (args, ctx) => { ${body} },`;
      const run = `const all = [];
      for (let n = 1; n < 4; n++) {
        all.push(await ctx.runStep("add", { n, sum: 0 }));
        all.push((await ctx.runStep("odd", { n }, { onError: "return" })).ok);
      }
      return ctx.complete(all);`;
      const ahead = await go(moduleOf(steps, run));
      const ok = "json" in came;
      expect(resultOf(ahead)).toEqual([1, ok, 2, ok, 3, ok]);
      const odd = JSON.parse(ahead.came[1]!);
      expect(odd).toMatchObject(came);
      expect(seen(ahead)).toEqual(seen(await go(moduleOf(steps, run), { ahead: false })));
    },
    60_000,
  );

  test("loops in a native operation: it ends by itself, and its script is not run ahead again", async () => {
    const steps = `${ADD} odd: () => "a".repeat(2e7).indexOf("a".repeat(1e7) + "b"),`;
    const run = `const first = await ctx.runStep("add", { n: 1, sum: 0 });
      const odd = await ctx.runStep("odd", {}, { onError: "return" });
      return ctx.complete([first, odd.ok, await ctx.runStep("add", { n: 2, sum: 0 })]);`;
    const ahead = await go(moduleOf(steps, run));
    expect(resultOf(ahead)).toEqual([1, false, 2]);
    expect(JSON.parse(ahead.came[1]!)).toMatchObject({ error: { code: "step_limit" } });
    expect(ahead.early).toBe(0);
    expect(seen(ahead)).toEqual(seen(await go(moduleOf(steps, run), { ahead: false })));
  }, 60_000);

  test("asks once, however often it was begun", async () => {
    let asked = 0;
    const host = { ...HOST, secret: async (name: string) => `${name} ${++asked}` };
    const run = "return [await ctx.runStep('ask', { n: 1 }), await ctx.runStep('ask', { n: 2 })];";
    const js = moduleOf("ask: (args, ctx) => ctx.secrets.get('x'),", run);
    expect(resultOf(await go(js, { host }))).toEqual(["x 1", "x 2"]);
  });
});

test("what run() may compute counts its own, whatever its steps take", async () => {
  const busy = "busy: ({ n }) => { let sum = 0; for (let m = 0; m < 20_000; m++) sum += m; return sum; },";
  const run = "for (let n = 0; n < 200; n++) await ctx.runStep('busy', { n }); return ctx.complete(1);";
  expect(resultOf(await go(moduleOf(busy, run)))).toBe(1);
});

test("several at once come to the same", async () => {
  const run = `const line = async (name) => {
      let sum = 0;
      for (let n = 1; n <= 20; n++) sum = await ctx.runStep("add", { n, sum, name });
      return sum;
    };
    const [a, b, many] = await Promise.all([line("a"), line("b"), ctx.runStepMany("add", [{ n: 1, sum: 1 }, { n: 2, sum: 2 }])]);
    return ctx.complete([a, b, many]);`;
  for (const ahead of [true, false])
    expect(resultOf(await go(moduleOf(ADD, run), { ahead }))).toEqual([210, 210, [2, 4]]);
});

describe("one tenant's steps and another's run", () => {
  const probe = `probe: async (args, ctx) => [
      typeof mark, typeof ({}).mark, JSON.stringify([1]), [2].map((x) => x)[0], await Promise.resolve(3), Reflect.ownKeys(globalThis).length,
    ],`;
  const PROBE = moduleOf(
    probe,
    "return ctx.complete([typeof mark, typeof ({}).mark, [1].map((x) => x), Reflect.ownKeys(globalThis).length, await ctx.runStep('probe')]);",
  );
  test.each([
    "globalThis.mark = 1; Object.prototype.mark = 1; JSON.stringify = () => '\"mine\"'",
    "Array.prototype.map = () => ['x']; Promise.prototype.then = () => {}; Symbol.for('mark')",
    "Object.defineProperty(Object.prototype, 'json', { set() { globalThis.mark = 1 } }); Object.freeze(Array.prototype)",
    "globalThis.kept = new Uint8Array(3e6).fill(7); Promise.resolve().then(() => { globalThis.mark = 1 }); throw 1",
  ])("find nothing of each other: %s", async (dirt) => {
    const clean = resultOf(await go(PROBE, { organization_id: "home" }));
    const dirty = moduleOf(
      `soil: async (args, ctx) => { ${dirt}; return 1; }, ${probe}`,
      `await ctx.runStep("soil", {}, { onError: "return" });
       const own = await ctx.runStep("probe"); ${dirt.replace("throw 1", "")}; return ctx.complete(own);`,
    );
    // its own next step and its run() are as clean
    const own = await go(dirty, { organization_id: "hostile" });
    expect(own.memo[1]!.value).toEqual({ json: JSON.stringify((clean as unknown[])[4]) });
    expect(resultOf(await go(PROBE, { organization_id: "home" }))).toEqual(clean);
  });
});
