import { afterAll, describe, expect, test } from "vitest";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import {
  StepFailure,
  type MemoEntry,
  type StepCall,
  type StepHost,
  type TickOutcome,
} from "#services/workflows/tick.ts";
import { tickCallFor, HOST } from "./workflowCalls.ts";

/* Steps that request nothing of the platform run within their tick. A run has the same outcome without that. */

const CPU_MS = 500;
const runner = openWorkflows({ processes: 1, cpu_ms: CPU_MS });
afterAll(() => runner.close());

const RUN_AS = { type: "service" as const, id: null };
const MAX_RESULT_BYTES = 100_000;
const ABORTED = AbortSignal.abort();

/** A module with these steps, whose run() has this body. */
const moduleOf = (steps: string, run: string): string =>
  `export const steps = {\n${steps}\n};\nexport async function run(ctx, args) {\n${run}\n}`;

interface PlayedRun {
  end: TickOutcome["end"];
  ticks: number;
  /** Lines of run() and of its steps. */
  logs: string[];
  /** Names and arguments of the steps, in order. */
  requested: string[];
  /** Result of each step. */
  results: string[];
  notes: string[];
  memo: MemoEntry[];
  run_id: string;
  /** Steps that had run speculatively. */
  speculated: number;
}
interface PlayOptions {
  speculative?: boolean;
  run_id?: string;
  organization_id?: string;
  host?: StepHost;
  maxTicks?: number;
  /** Called before each tick. */
  beforeTick?(memo: MemoEntry[]): MemoEntry[];
}

/** Plays a run to its end, one step at a time. */
async function play(
  js: string,
  { speculative = true, host = HOST, maxTicks = 400, beforeTick = (memo) => memo, ...more }: PlayOptions = {},
) {
  const call = tickCallFor(js, more);
  const { organization_id, run_id, sha256 } = call;
  const empty = { logs: [], requested: [], results: [], notes: [], memo: [] };
  const played: PlayedRun = { end: { type: "suspended" }, ticks: 0, run_id, speculated: 0, ...empty };
  for (const stepLogs: string[] = []; played.ticks < maxTicks; ) {
    played.memo = beforeTick(played.memo);
    const { memo } = played;
    const tickCall = {
      ...call,
      memo,
      ...(speculative && { speculation: { run_as: RUN_AS, max_result_bytes: MAX_RESULT_BYTES } }),
    };
    const outcome = await runner.tick(tickCall);
    played.ticks += 1;
    Object.assign(played, { end: outcome.end, logs: [...outcome.logs, ...stepLogs] });
    const known = new Set(memo.map(({ key }) => key));
    const notes = outcome.notes.filter(({ key }) => !known.has(key));
    played.notes.push(...notes.map(({ json }) => json));
    memo.push(...notes.map(({ key, json }) => ({ key, value: { json } })));
    if (outcome.end.type !== "suspended") break;
    const steps = outcome.pending.flatMap((one) => (one.kind === "steps" ? one.steps : []));
    for (const { key, name, args } of steps) {
      if (known.has(key)) continue;
      played.requested.push(`${name} ${args}`);
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
        max_result_bytes: MAX_RESULT_BYTES,
        signal: new AbortController().signal,
      };
      // a speculated result is returned even to an aborted call
      const speculated = await runner.step({ ...one, signal: ABORTED }).catch(() => undefined);
      if (speculated) played.speculated += 1;
      const value = await (speculated ? Promise.resolve(speculated) : runner.step(one)).then(
        ({ json, logs }) => {
          stepLogs.push(...logs);
          return { json };
        },
        ({ code, message }: StepFailure) => ({ error: { code, message } }),
      );
      played.results.push(JSON.stringify(value));
      memo.push({ key, value });
    }
  }
  return played;
}
/** The result of a run, which must have completed. */
function resultOf({ end }: Pick<PlayedRun, "end">): unknown {
  if (end.type !== "completed") throw new Error(`the run ended with ${JSON.stringify(end)}`);
  return JSON.parse(end.json);
}
/** What is visible of a run from outside. */
const visible = ({ end, ticks, logs, requested, results }: PlayedRun) => ({ end, ticks, logs, requested, results });

const ADD = "add: ({ n, sum }, ctx) => { ctx.log('step', n); return sum + n; },";
const SUMS =
  "let sum = 0; for (let n = 1; n <= 300; n++) { if (n % 100 === 0) ctx.log('at', n); sum = await ctx.runStep('add', { n, sum }); } return ctx.complete(sum);";

describe("a run whose steps make no requests", () => {
  test("has the same outcome with and without speculation, in the same number of ticks", async () => {
    const js = moduleOf(ADD, SUMS);
    const speculated = await play(js);
    expect(speculated.speculated).toBeGreaterThan(0);
    const plain = await play(js, { speculative: false });
    expect(plain.speculated).toBe(0);
    expect([resultOf(speculated), speculated.ticks]).toEqual([45_150, 301]);
    expect(visible(speculated)).toEqual(visible(plain));
  });

  test("may end at once, fail or wait after a speculated step", async () => {
    const end = async (run: string) => {
      const [speculated, plain] = [
        await play(moduleOf(ADD, run), { maxTicks: 3 }),
        await play(moduleOf(ADD, run), { speculative: false, maxTicks: 3 }),
      ];
      expect(visible(speculated)).toEqual(visible(plain));
      return speculated.end;
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
    expect(await end(`${add} return () => 1`)).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/not serialisable/),
    });
  });

  test("records times, ids and random numbers, and reuses them", async () => {
    const run = `const seen = [];
      for (let n = 0; n < 40; n++) {
        seen.push([ctx.now("t" + n), ctx.uuid("u" + n), Math.random(), Date.now()]);
        seen.push(await ctx.runStep("add", { n, sum: Math.floor(Math.random() * 1e9) }));
      }
      return ctx.complete(seen);`;
    const js = moduleOf(ADD, run);
    const played = await play(js);
    const result = resultOf(played);
    expect(played.notes).toHaveLength(40);
    // repeated from the recorded memo, in a thread without a history of the run
    const again = await runner.tick(
      tickCallFor(js, { ...tickCallFor(js), run_id: played.run_id, memo: structuredClone(played.memo) }),
    );
    expect(resultOf(again)).toEqual(result);
  });

  test("may record more values in total than between two steps", async () => {
    // long computing before the first step allows more speculated steps
    const run = `for (let n = 0; n < 1e6; n++);
      for (let n = 0; n < 12; n++) {
        for (let m = 0; m < 100; m++) ctx.now(n + "/" + m);
        await ctx.runStep("add", { n, sum: 0 });
      }
      return ctx.complete("all");`;
    for (const speculative of [true, false])
      expect(resultOf(await play(moduleOf(ADD, run), { speculative }))).toBe("all");
  });

  test("has the same outcome if it is repeated from any lost point", async () => {
    const js = moduleOf(
      "draw: ({ n }) => n * n,",
      SUMS.replaceAll("'add', { n, sum }", "'draw', { n, at: Date.now() }"),
    );
    const whole = await play(js);
    for (const kept of [0, 1, 17, 299]) {
      let isLost = false;
      const lose = (memo: MemoEntry[]): MemoEntry[] => {
        if (isLost || memo.length < kept + 3) return memo;
        isLost = true;
        // unrecorded entries are gone, and the next worker has another array
        return memo.slice(0, kept);
      };
      const played = await play(js, { run_id: whole.run_id, beforeTick: lose });
      expect([played.end, played.memo]).toEqual([whole.end, whole.memo]);
    }
  });
});

describe("a step cannot run speculatively and runs normally if it", () => {
  test.each([
    ["makes a request", "return (await ctx.secrets.get('x')).length", { json: "11" }],
    [
      "makes a request for some arguments",
      "return args.n % 2 ? (await ctx.fetch('https://a.example')).status : 1",
      { json: "200" },
    ],
    ["makes a request and does not wait for it", "void ctx.secrets.get('x').catch(() => {}); return 1", { json: "1" }],
    ["throws", "throw new TypeError('no')", { error: { message: "TypeError: no" } }],
    ["waits for a promise that never settles", "await new Promise(() => {})", { error: { code: "step_error" } }],
    ["computes for long", "const end = Date.now() + 50; while (Date.now() < end); return 1", { json: "1" }],
    ["loops", "for (;;) {}", { error: { code: "step_limit" } }],
    [
      "needs too much memory",
      "const all = []; for (;;) all.push(new Uint8Array(8e6).fill(1))",
      { error: { code: "step_limit" } },
    ],
    ["needs much memory", "return new Uint8Array(3e7).fill(1).length", { json: "30000000" }],
    ["returns too much", `return "x".repeat(${MAX_RESULT_BYTES})`, { error: { code: "step_result_too_large" } }],
    ["returns a value that JSON cannot represent", "return { n: NaN }", { error: { code: "step_error" } }],
  ])(
    "%s, has the outcome of a normal step, and the run continues",
    async (_, body, result) => {
      const steps = `${ADD} odd: async (args, ctx) => { ${body} },`;
      const run = `const all = [];
      for (let n = 1; n < 4; n++) {
        all.push(await ctx.runStep("add", { n, sum: 0 }));
        all.push((await ctx.runStep("odd", { n }, { onError: "return" })).ok);
      }
      return ctx.complete(all);`;
      const speculated = await play(moduleOf(steps, run));
      const ok = "json" in result;
      expect(resultOf(speculated)).toEqual([1, ok, 2, ok, 3, ok]);
      const odd = JSON.parse(speculated.results[1]!);
      expect(odd).toMatchObject(result);
      expect(visible(speculated)).toEqual(visible(await play(moduleOf(steps, run), { speculative: false })));
    },
    60_000,
  );

  test("loops in a native operation, which also ends the speculation of its script", async () => {
    const steps = `${ADD} odd: () => "a".repeat(2e7).indexOf("a".repeat(1e7) + "b"),`;
    const run = `const first = await ctx.runStep("add", { n: 1, sum: 0 });
      const odd = await ctx.runStep("odd", {}, { onError: "return" });
      return ctx.complete([first, odd.ok, await ctx.runStep("add", { n: 2, sum: 0 })]);`;
    const speculated = await play(moduleOf(steps, run));
    expect(resultOf(speculated)).toEqual([1, false, 2]);
    expect(JSON.parse(speculated.results[1]!)).toMatchObject({ error: { code: "step_limit" } });
    expect(speculated.speculated).toBe(0);
    expect(visible(speculated)).toEqual(visible(await play(moduleOf(steps, run), { speculative: false })));
  });

  test("makes a request, which is sent once", async () => {
    let requests = 0;
    const host = { ...HOST, secret: async (name: string) => `${name} ${++requests}` };
    const run = "return [await ctx.runStep('ask', { n: 1 }), await ctx.runStep('ask', { n: 2 })];";
    const js = moduleOf("ask: (args, ctx) => ctx.secrets.get('x'),", run);
    expect(resultOf(await play(js, { host }))).toEqual(["x 1", "x 2"]);
  });
});

test("the CPU limit of run() does not count its speculated steps", async () => {
  const busy = "busy: ({ n }) => { let sum = 0; for (let m = 0; m < 20_000; m++) sum += m; return sum; },";
  const run = "for (let n = 0; n < 200; n++) await ctx.runStep('busy', { n }); return ctx.complete(1);";
  expect(resultOf(await play(moduleOf(busy, run)))).toBe(1);
});

test("concurrent steps have the same results with speculation", async () => {
  const run = `const line = async (name) => {
      let sum = 0;
      for (let n = 1; n <= 20; n++) sum = await ctx.runStep("add", { n, sum, name });
      return sum;
    };
    const [a, b, many] = await Promise.all([line("a"), line("b"), ctx.runStepMany("add", [{ n: 1, sum: 1 }, { n: 2, sum: 2 }])]);
    return ctx.complete([a, b, many]);`;
  for (const speculative of [true, false])
    expect(resultOf(await play(moduleOf(ADD, run), { speculative }))).toEqual([210, 210, [2, 4]]);
});

describe("speculated steps of one tenant and runs of another", () => {
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
  ])("do not affect each other after: %s", async (dirt) => {
    const clean = resultOf(await play(PROBE, { organization_id: "home" }));
    const dirty = moduleOf(
      `soil: async (args, ctx) => { ${dirt}; return 1; }, ${probe}`,
      `await ctx.runStep("soil", {}, { onError: "return" });
       const own = await ctx.runStep("probe"); ${dirt.replace("throw 1", "")}; return ctx.complete(own);`,
    );
    // its own next step and its run() find no trace either
    const own = await play(dirty, { organization_id: "hostile" });
    expect(own.memo[1]!.value).toEqual({ json: JSON.stringify((clean as unknown[])[4]) });
    expect(resultOf(await play(PROBE, { organization_id: "home" }))).toEqual(clean);
  });
});
