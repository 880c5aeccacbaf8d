import { afterAll, describe, expect, test, vi } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import { TickLost, type MemoEntry, type TickCall, type TickOutcome } from "#services/workflows/tick.ts";
import { answersTo, tickCallFor, keysOf, moduleWithRun, runThrough, type Answers } from "../sandbox/workflowCalls.ts";

vi.setConfig({ testTimeout: 60_000 });

/* Workflows whose run() is hostile or broken. */

const runner = openWorkflows({ processes: 2, tick_cpu_ms: 1_000 });
/** For runs that take most of a second before they reach another limit. */
const patientRunner = openWorkflows({ processes: 1 });
afterAll(() => Promise.all([runner.close(), patientRunner.close()]));

const tick = (body: string, more: Partial<TickCall> = {}): Promise<TickOutcome> =>
  runner.tick(tickCallFor(moduleWithRun(body), more));
const end = async (body: string, more?: Partial<TickCall>) => (await tick(body, more)).end;
async function resultOf(body: string, answers?: Answers, more?: Partial<TickCall>) {
  const last = (await runThrough(runner, tickCallFor(moduleWithRun(body), more), answers)).at(-1)!.end;
  if (last.type !== "completed") throw new Error(`the run ended with ${JSON.stringify(last)}`);
  return JSON.parse(last.json);
}
const keys = (outcome: TickOutcome) => outcome.pending.flatMap(keysOf);
const other = () => end("return 1", { organization_id: "other" });

describe("a tick that never ends is stopped, and the next one runs:", () => {
  test.each([
    ["a loop", "for (;;) {}"],
    ["a loop that catches", "for (;;) try { for (;;) {} } catch {}"],
    ["a loop in finally", "try { for (;;) {} } finally { for (;;) {} }"],
    ["endless microtasks", "const f = () => Promise.resolve().then(f); await f()"],
    ["an async generator", "async function* g() { for (;;) yield 1 } for await (const x of g());"],
    ["a getter of an error's message", "throw { get message() { for (;;) {} } }"],
    ["a getter of a cause", "throw { get cause() { for (;;) {} } }"],
    ["toJSON of the result", "return { toJSON() { for (;;) {} } }"],
    ["toJSON of arguments", "await runStep('a', { toJSON() { for (;;) {} } })"],
    ["a getter of arguments", "await runStep('a', { get x() { for (;;) {} } })"],
    ["a proxy as options", "await runStep('a', 1, new Proxy({}, { get() { for (;;) {} } }))"],
    ["toString of a key", "await runStep('a', 1, { key: { toString() { for (;;) {} } } })"],
    ["a thenable", "return { then() { for (;;) {} } }"],
    ["toString of a log", "log({ toString() { for (;;) {} }, toJSON() { for (;;) {} } })"],
    ["calls without end", "for (;;) await runStep('a').catch(() => {})"],
    ["a promise that waits for itself", "const f = async () => { await null; return f() }; await f()"],
  ])("%s", async (_, body) => {
    const ended = await end(body);
    expect(ended).toMatchObject({ type: "failed" });
    expect(ended).toMatchObject({ code: expect.stringMatching(/^(run_timeout|run_error|out_of_memory)$/) });
    expect(await other()).toMatchObject({ json: "1" });
  });

  test("a loop at the top level of a module", async () => {
    expect((await runner.tick(tickCallFor("for (;;) {}\nexport function run() {}"))).end).toMatchObject({
      code: "run_timeout",
    });
  });

  test("a native operation that no interrupt stops loses its tick but no other", async () => {
    const stuck = tick("'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')", { organization_id: "hostile" });
    const lost = expect(stuck).rejects.toThrow(TickLost);
    const others = Array.from({ length: 20 }, (_, n) => end(`return ${n}`, { organization_id: `o${n % 3}` }));
    expect(await Promise.all(others)).toHaveLength(20);
    await lost;
    expect(await other()).toMatchObject({ json: "1" });
  });
});

describe("a run that grows without end is stopped:", () => {
  test.each([
    ["a list", "const all = []; for (;;) all.push(new Array(1e4).fill(1))", /out_of_memory|run_timeout/],
    ["a string that doubles", "let s = 'x'; for (;;) s += s", /out_of_memory|run_error/],
    ["buffers", "const all = []; for (;;) all.push(new ArrayBuffer(8e6))", /out_of_memory/],
    ["promises", "const all = []; for (;;) all.push(new Promise(() => {}))", /out_of_memory|run_timeout/],
    ["recursion", "const f = () => f() + 1; return f()", /run_error/],
    ["recursion in toJSON", "const o = { toJSON: () => ({ o }) }; return o", /not_serialisable|run_error/],
    [
      "calls without a result",
      "await Promise.all(Array.from({ length: 10_001 }, (_, n) => runStep('a', n)))",
      /run_error/,
    ],
    [
      "large arguments",
      "await Promise.all(Array.from({ length: 100 }, (_, n) => runStep('a', 'x'.repeat(2e5) + n)))",
      /run_error/,
    ],
    ["labels of now()", "for (let n = 0; n < 1001; n++) now('label ' + n)", /run_error/],
  ])("%s", async (_, body, code) => {
    const { end: ended } = await patientRunner.tick(tickCallFor(moduleWithRun(body)));
    expect(ended).toMatchObject({ type: "failed", code: expect.stringMatching(code) });
    expect(await other()).toMatchObject({ json: "1" });
  });

  test("a run may use all its memory on every tick", async () => {
    for (let n = 0; n < 20; n++)
      expect(await end("const x = 'x'.repeat(15e6); return x.length")).toMatchObject({ json: "15000000" });
  });
});

describe("a value of a run", () => {
  test.each([
    ["a NaN", "{ a: { 'b/c': [1, NaN] } }", "NaN at /a/b~1c/1"],
    ["an infinite number", "[Infinity]", "Infinity at /0"],
    ["a large integer", "{ n: 1n }", "a bigint at /n"],
    ["a function", "{ f() {} }", "a function at /f"],
    ["a symbol", "Symbol('x')", "a symbol at /"],
    ["a cycle", "(() => { const o = { p: {} }; o.p.o = o; return o })()", "a cycle at /p/o"],
    ["a NaN from toJSON", "{ x: { toJSON: () => NaN } }", "NaN at /x"],
    ["a NaN from a getter", "{ get x() { return NaN } }", "NaN at /x"],
  ])("cannot contain %s", async (_, value, where) => {
    const failed = (what: string) => ({
      code: "not_serialisable",
      message: `TypeError: ${what}: not serialisable, ${where}.`,
      line: 3,
    });
    expect(await end(`await runStep('a', ${value})`)).toMatchObject(failed('The arguments of the step "a"'));
    expect(await end(`await complete(${value})`)).toMatchObject(failed("The result of complete()"));
    expect(await end(`return ${value}`)).toMatchObject({ ...failed("The result of run()"), line: null });
  });

  test("whose getter throws fails the run with that error", async () => {
    expect(await end("await runStep('a', { get x() { throw new RangeError('mine') } })")).toMatchObject({
      code: "run_error",
      message: "RangeError: mine",
      line: 3,
    });
  });

  test("is refused when it nests too deep", async () => {
    // the engine compares every level with all above it to find cycles: 20,000 levels take almost a second
    const end = async (body: string, more?: Partial<TickCall>) =>
      (await patientRunner.tick(tickCallFor(moduleWithRun(body), more))).end;
    const nested = (depth: number) => `let a = []; for (let n = 1; n < ${depth}; n++) a = [a];`;
    const refused = { code: "not_serialisable", message: expect.stringMatching(/nests too deep/) };
    for (const use of [
      "await runStep('a', a)",
      "await runStepMany('a', [a])",
      "await awaitApproval('x', { form: { a } })",
      "await complete(a)",
    ])
      for (const depth of [300, 100_000]) expect(await end(`${nested(depth)} ${use}`)).toMatchObject(refused);
    for (const depth of [300, 100_000])
      expect(await end(`${nested(depth)} return a`)).toMatchObject({ type: "failed" });
    expect(await end(`${nested(200)} await runStep('a', a)`)).toEqual({ type: "suspended" });
    expect(await end("return 1", { args: "[".repeat(50_000) + "]".repeat(50_000) })).toMatchObject({ type: "failed" });
  });

  test("is refused when it is too large", async () => {
    expect(await end("await runStep('a', 'x'.repeat(262_142))")).toEqual({ type: "suspended" });
    expect(await end("await runStep('a', 'x'.repeat(262_143))")).toMatchObject({
      message: expect.stringMatching(/longer than 262144/),
    });
    expect(await end("await complete('x'.repeat(1_048_574))")).toMatchObject({ type: "completed" });
    expect(await end("await complete('x'.repeat(1_048_575))")).toMatchObject({
      message: expect.stringMatching(/longer than 1048576/),
    });
    expect(await end("return 'x'.repeat(1_048_575)")).toMatchObject({ code: "result_too_large" });
    expect(await end("await runStepMany('a', ['x'.repeat(262_143)])")).toMatchObject({
      message: expect.stringMatching(/longer than/),
    });
  });

  test("keeps every character", async () => {
    const body =
      "const s = '\\u0000 \\ud800 \\udc00\\ud800 \\u2028 \\u00e9 \\u{1f600}\"\\\\'; const [r] = await runStepMany('a', [{ [s]: s }]); return [r[s] === s, Object.keys(r)[0] === s, r]";
    const [same, key, value] = await resultOf(body);
    expect([same, key]).toEqual([true, true]);
    const letters = '\u0000 \ud800 \udc00\ud800 \u2028 \u00e9 \u{1f600}"\\';
    expect(value).toEqual({ [letters]: letters });
    expect(
      await resultOf("return [args.s, args.s.length]", undefined, { args: JSON.stringify({ s: letters }) }),
    ).toEqual([letters, letters.length]);
  });

  test("may have fields named __proto__ and constructor", async () => {
    const body = `const sent = JSON.parse('{"__proto__":{"x":1},"constructor":2}'); const r = await runStep('a', sent); return [Object.keys(r), ({}).x === undefined, r]`;
    const seen: unknown[] = [];
    const [names, clean] = await resultOf(body, ({ args }) => {
      seen.push(JSON.stringify(args));
      return args;
    });
    expect(names).toEqual(["__proto__", "constructor"]);
    expect(clean).toBe(true);
    expect(seen).toEqual(['{"__proto__":{"x":1},"constructor":2}']);
    const args = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect(await end("return [typeof ({}).polluted, Object.keys(args)]", { args })).toMatchObject({
      json: '["undefined",["__proto__","constructor"]]',
    });
  });

  test("is identical on the tick that receives it first and on every later one", async () => {
    const body =
      "const r = await runStep('a', { at: new Date(0), m: new Map([[1, 2]]), u: undefined, z: -0, h: [, 1] }); await runStep('b'); await runStep('c'); return r";
    const seen: unknown[] = [];
    const result = await resultOf(`${body}`, ({ name, args }) => {
      if (name === "a") seen.push(args);
      return args;
    });
    expect(result).toEqual({ at: "1970-01-01T00:00:00.000Z", m: {}, z: 0, h: [null, 1] });
    expect(seen).toEqual([result]);
    // a live value would differ from its JSON
    const kinds =
      "const r = await runStep('a', { at: new Date(0) }); log(typeof r.at, Object.is(r.z, -0)); await runStep('b')";
    const logs = (await runThrough(runner, tickCallFor(moduleWithRun(kinds)))).map(({ logs: lines }) => lines);
    expect(logs).toEqual([[], ["string false"], ["string false"]]);
  });
});

describe("a call of run()", () => {
  const keyOf = async (args: string) => keys(await tick(`await runStep('a', ${args})`))[0];
  test("is identified by its structure, whatever the order of its fields", async () => {
    const key = await keyOf("{ a: 1, b: { x: [1, 2], y: '0' } }");
    for (const same of [
      "{ b: { y: '0', x: [1, 2] }, a: 1 }",
      "{ a: 1.0, b: { x: [1, 2], y: '0', z: undefined }, f: undefined }",
      'JSON.parse(\'{"b":{"x":[1,2],"y":"0"},"a":1}\')',
      "Object.assign(Object.create({ inherited: 1 }), { a: 1, b: { x: [1, 2], y: '0' } })",
    ])
      expect(await keyOf(same)).toBe(key);
    for (const another of [
      "{ a: 1 }",
      "{ a: '1', b: { x: [1, 2], y: '0' } }",
      "{ a: 1, b: { x: [2, 1], y: '0' } }",
      "{ a: 1, b: { x: [1, 2], y: '0', z: null } }",
    ])
      expect(await keyOf(another)).not.toBe(key);
    expect(await keyOf("new Date(5)")).toBe(await keyOf("'1970-01-01T00:00:00.005Z'"));
  });

  test("with changed arguments runs its step again, and no other step", async () => {
    const body = (shape: string) => `await runStep('a', 1); await runStep('b', ${shape}); return await runStep('c')`;
    const call = tickCallFor(moduleWithRun(body("{ n: 1 }")));
    const memo: MemoEntry[] = [];
    for (let n = 0; n < 3; n++)
      memo.push(...answersTo((await runner.tick({ ...call, memo: [...memo] })).pending, () => n));
    const reshaped = await tick(body("{ n: 1, more: true }"), { memo });
    expect(reshaped.pending).toMatchObject([{ steps: [{ name: "b", args: '{"n":1,"more":true}' }] }]);
    expect(reshaped.unusedKeys).toEqual([memo[1]!.key, memo[2]!.key]);
  });
});

describe("a tick leaves no trace of", () => {
  test.each([
    ["globals", "globalThis.mark = 1"],
    ["prototypes", "Object.prototype.mark = 1; Array.prototype.map = () => 'mark'; Promise.prototype.then = null"],
    [
      "JSON and clocks",
      "JSON.parse = () => 'mark'; JSON.stringify = () => 'mark'; Date.now = () => 1; Math.random = () => 1",
    ],
    ["changed functions", "globalThis.runStep = () => 'mark'; globalThis.complete = () => 'mark'"],
    [
      "registered symbols and functions",
      "Symbol.for('mark').description; globalThis.eval = null; Function.prototype.call = null",
    ],
    ["pending promises", "new Promise(() => {}).then(() => 1); runStep('a').catch(() => {})"],
  ])("%s", async (_, dirt) => {
    const probe =
      "return [typeof mark, typeof ({}).mark, [1].map((x) => x)[0], JSON.parse('[1]')[0], JSON.stringify({ a: 1 }), Date.now() > 1, Math.random() < 1, typeof runStep, typeof eval, runId]";
    const clean = JSON.parse(((await end(probe)) as { json: string }).json);
    for (const organization_id of ["o1", "o2"]) {
      await tick(dirt);
      const now = JSON.parse(((await end(probe, { organization_id })) as { json: string }).json);
      expect(now.slice(0, -1)).toEqual(clean.slice(0, -1));
      expect(now.at(-1)).not.toBe(clean.at(-1));
    }
  });

  test("the state of its module", async () => {
    const js =
      "let count = 0; export const steps = { a() {} }; export async function run(ctx) { count += 1; await ctx.runStep('a'); return count }";
    expect((await runThrough(runner, tickCallFor(js))).at(-1)!.end).toMatchObject({ json: "1" });
  });
});

describe("a script that breaks its own environment changes nothing outside:", () => {
  test.each([
    ["JSON", "JSON.stringify = () => '\"x\"'; JSON.parse = () => ({ evil: 1 })"],
    [
      "toJSON",
      "Object.prototype.toJSON = function () { return this }; Array.prototype.toJSON = function () { return this }",
    ],
    [
      "setters",
      "for (const n of [0, 1, 2]) Object.defineProperty(Array.prototype, n, { set() {}, get: () => 'x', configurable: true })",
    ],
    [
      "promises",
      "Promise.prototype.then = () => 1; Promise.resolve = () => 1; Promise.reject = () => 1; Promise.prototype.catch = () => 1",
    ],
    ["the promise constructor", "Object.defineProperty(Promise.prototype, 'constructor', { get: () => null })"],
    ["iterators", "Array.prototype[Symbol.iterator] = function* () { yield 'x' }"],
    [
      "calls",
      "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'x'; Reflect.apply = () => 'x'",
    ],
    ["objects", "Object.keys = Object.entries = () => ['x']; Object.hasOwn = () => true; Object.freeze = () => 1"],
    ["strings", "String.prototype.slice = String.prototype.replaceAll = () => 'x'; globalThis.String = () => 'x'"],
    [
      "maps",
      "WeakMap.prototype.get = WeakMap.prototype.has = WeakMap.prototype.set = () => true; globalThis.WeakMap = null",
    ],
    ["errors", "globalThis.Error = globalThis.TypeError = null; Error.prototype = null; Error.stackTraceLimit = 0"],
    ["stack traces", "Error.prepareStackTrace = () => { throw 1 }"],
  ])("%s", async (_, tricks) => {
    const expected = keys(await tick("await runStep('a', { n: [1, 2] }, { key: 'k' })"));
    const outcome = await tick(`try { ${tricks} } catch {}\nawait runStep('a', { n: [1, 2] }, { key: 'k' })`);
    expect(keys(outcome)).toEqual(expected);
    expect(outcome.pending).toMatchObject([{ steps: [{ name: "a", args: '{"n":[1,2]}' }] }]);
    expect(await end(`try { ${tricks} } catch {}\nawait complete({ n: [1] })`)).toMatchObject({ json: '{"n":[1]}' });
  });

  test.each([
    ["the constructor of a function", "return runStep.constructor('return typeof process')()"],
    ["the constructor of a generator", "return (function* () {}).constructor('yield typeof process')().next().value"],
    ["the constructor of an async function", "return await (async () => {}).constructor('return typeof process')()"],
    [
      "an error of the host",
      "try { await sleep('x') } catch (e) { return e.constructor.constructor('return typeof process')() }",
    ],
    ["a signal", "return await runStep('a').catch((e) => e.constructor.constructor('return typeof process')())"],
    ["a proxy around everything", "return new Proxy(runStep, {}).constructor.constructor('return typeof process')()"],
    ["indirect eval", "return (0, eval)('typeof process')"],
  ])("no script leaves its VM through %s", async (_, body) => {
    const ended = await end(body);
    if (ended.type === "completed") expect(ended.json).toBe('"undefined"');
    else expect(ended.type).toBe("suspended");
  });

  test("a script finds no global that shares memory, measures time or accesses the outside", async () => {
    const names =
      "SharedArrayBuffer Atomics performance WebAssembly Worker process require fetch std os gc secrets findAnswer requestStep request";
    expect(await resultOf(`return ${JSON.stringify(names.split(" "))}.filter((name) => name in globalThis)`)).toEqual(
      [],
    );
    expect(await resultOf("return ['fetch', 'secrets', 'chat', 'tools'].filter((name) => name in ctx)")).toEqual([]);
    for (const name of ["node:fs", "./tickVm.ts", "file:///etc/passwd", "svc:other", "std"])
      expect(await resultOf(`return import('${name}').then(() => 'in', (e) => e.message + e.stack)`)).toMatch(
        /^A workflow imports nothing but svc:workflow: (?!.*(infra|node_modules))/s,
      );
  });
});

describe("the number of calls", () => {
  test.each([999, 1_000, 10_000])("can be %i with results in the memo", async (count) => {
    const body = `let sum = 0; for (let n = 0; n < ${count}; n++) sum += await runStep('a', { n }); await sleep('1h'); return sum`;
    const all = await tick(`await Promise.all(Array.from({ length: ${count} }, (_, n) => runStep('a', { n })))`);
    const memo = answersTo(all.pending, () => 2);
    expect(memo).toHaveLength(count);
    const call = tickCallFor(moduleWithRun(body), { memo });
    for (let n = 0; n < 2; n++)
      expect(await runner.tick(call)).toMatchObject({ end: { type: "suspended" }, unusedKeys: [] });
    memo.push(...answersTo((await runner.tick(call)).pending, () => null));
    expect((await runner.tick(call)).end).toMatchObject({ json: String(2 * count) });
  });

  test("of one runStepMany can be 1,000, but not 1,001", async () => {
    const many = (count: number) =>
      `return (await runStepMany('a', Array.from({ length: ${count} }, (_, n) => n))).length`;
    expect(await resultOf(many(1_000))).toBe(1_000);
    expect(await end(many(1_001))).toMatchObject({ message: expect.stringMatching(/more than 1000/) });
  });
});
