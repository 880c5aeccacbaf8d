import { beforeEach, describe, expect, test } from "vitest";
import { QuickJS } from "quickjs-wasi";
import { createSpeculativeVm } from "./speculativeVm.ts";
import { compileQuickJs } from "../vm/wasm.ts";
import { compileModule } from "./bytecode.ts";
import { newStepOrder } from "./messages.ts";
import { vmOptions } from "./vmOptions.ts";

const wasm = compileQuickJs();

const watched: boolean[] = [];
let vm: ReturnType<typeof createSpeculativeVm>;
beforeEach(async () => {
  watched.length = 0;
  vm = createSpeculativeVm({ wasm, onSpeculate: (isSpeculative) => void watched.push(isSpeculative) });
  await vm.prepare();
});

async function codeOf(js: string): Promise<Uint8Array> {
  const made = await QuickJS.create(vmOptions({ wasm, memory: 2 ** 25, interrupt: () => false, now: () => 0 }));
  return compileModule(made, js);
}
const context = {
  run_id: "r1",
  step_id: "s1",
  attempt: 1,
  idempotency_key: "i1",
  run_as: { type: "service" as const, id: null },
};
const orderOf = (sha256: string, args = "{}", max_result_bytes = 1_000) =>
  newStepOrder(context, { sha256, step: "work", args, max_result_bytes });
const moduleOf = (body: string) => `export const steps = { work: async (args, ctx) => { ${body} } };`;
/** The results of a step with this body, one per time it runs. */
async function runs(body: string, times = 1, args?: string) {
  const code = await codeOf(moduleOf(body));
  const order = orderOf(body, args);
  const all = [];
  for (let n = 0; n < times; n++) {
    await vm.prepare();
    all.push(vm.run(order, code));
  }
  return all;
}
const first = async (body: string, args?: string) => (await runs(body, 1, args))[0];

describe("a step that requests nothing", () => {
  test("runs at once, with its arguments, its context and its logs", async () => {
    expect(await first("ctx.log('a', args.n); await null; return [args.n, ctx.runId, ctx.attempt]", '{"n":3}')).toEqual(
      { json: '[3,"r1",1]', logs: ["a 3"] },
    );
    expect(watched).toEqual([true, false]);
  });
  test("has the result null when it returns nothing", async () => {
    expect(await first("")).toEqual({ json: "null", logs: [] });
  });
  test("has its own random numbers each time, and a running clock", async () => {
    const before = Date.now();
    const all = await runs("return [Math.random(), Date.now()]", 3);
    const results = all.map((one) => JSON.parse(one!.json) as [number, number]);
    expect(new Set(results.map(([chance]) => chance)).size).toBe(3);
    for (const [, now] of results) expect(now).toBeGreaterThanOrEqual(before);
  });
});

test("no step runs before the VM was prepared", async () => {
  const cold = createSpeculativeVm({ wasm, onSpeculate: () => {} });
  // the baseline exists, but this instance has no VM yet
  expect(cold.run(orderOf("cold"), await codeOf(moduleOf("return 1")))).toBeUndefined();
});

describe("a step is abandoned, and not tried again, when it", () => {
  test.each([
    ["requests a secret", "return ctx.secrets.get('x')"],
    ["fetches", "return (await ctx.fetch('https://a.example')).status"],
    ["calls a model", "return ctx.chat({})"],
    ["makes a request and does not wait for it", "ctx.tools.call('x'); return 1"],
    ["makes a request and catches its error", "try { await ctx.knowledge.search({}) } catch {} return 1"],
    ["loops", "for (;;) {}"],
    ["loops and catches the interrupt", "for (;;) try { for (;;) {} } catch {}"],
    ["leaves endless jobs behind", "const f = () => Promise.resolve().then(f); f(); return 1"],
    ["loops in toJSON of its result", "return { toJSON() { for (;;) {} } }"],
  ])("%s", async (_, body) => {
    expect(await runs(body, 2)).toEqual([undefined, undefined]);
    // it was not started again
    expect(watched).toEqual([true, false]);
    expect(await first("return 1")).toMatchObject({ json: "1" });
  });
  test("makes requests for some arguments only, whatever its arguments are the next time", async () => {
    const body = "if (args.asks) await ctx.secrets.get('x'); return 1";
    const code = await codeOf(moduleOf(body));
    expect(vm.run(orderOf("x", '{"asks":false}'), code)).toMatchObject({ json: "1" });
    expect(vm.run(orderOf("x", '{"asks":true}'), code)).toBeUndefined();
    expect(vm.run(orderOf("x", '{"asks":false}'), code)).toBeUndefined();
    // the same step in another version of the script may run
    expect(vm.run(orderOf("y", '{"asks":false}'), code)).toMatchObject({ json: "1" });
  });
});

describe("a step is abandoned when it", () => {
  test.each([
    ["throws", "throw new Error('no')"],
    ["waits for a promise that never settles", "await new Promise(() => {})"],
    ["calls a function of run()", "await ctx.runStep('work')"],
    ["returns a value that JSON cannot represent", "return () => 1"],
    ["returns too much text", "return 'x'.repeat(1_000)"],
    ["returns too many bytes", "return 'ä'.repeat(600)"],
    ["returns a value that nests too deep", "let a = []; for (let n = 0; n < 300; n++) a = [a]; return a"],
    ["needs too much memory", "return new Uint8Array(1e9).length"],
    ["recurses without end", "const f = () => f() + 1; return f()"],
  ])("%s", async (_, body) => {
    expect(await first(body)).toBeUndefined();
    await vm.prepare();
    expect(await first("return 1")).toMatchObject({ json: "1" });
  });
  test("belongs to a module that throws", async () => {
    expect(vm.run(orderOf("top"), await codeOf(`${moduleOf("return 1")}\nthrow new Error("top")`))).toBeUndefined();
  });
  test("does not exist", async () => {
    const code = await codeOf(moduleOf("return 1"));
    expect(vm.run({ ...orderOf("x"), step: "other" }, code)).toBeUndefined();
    expect(vm.run({ ...orderOf("x"), step: "toString" }, code)).toBeUndefined();
  });
});

test("a step that has grown the memory is followed by no other until the VM is prepared", async () => {
  expect(await first("return new Uint8Array(2e7).length")).toMatchObject({ json: "20000000" });
  const code = await codeOf(moduleOf("return 1"));
  expect(vm.run(orderOf("after"), code)).toBeUndefined();
  await vm.prepare();
  expect(vm.run(orderOf("after"), code)).toMatchObject({ json: "1" });
});

test("a step finds no trace of an earlier one", async () => {
  const probe = `return [
    Object.keys(globalThis).includes("mark"), typeof ({}).mark, JSON.stringify([1]), [2].map((x) => x)[0],
    typeof ctx.fetch, Reflect.ownKeys(globalThis).length, Math.max(1, 2), await Promise.resolve(3),
  ]`;
  const clean = await first(probe);
  for (const dirt of [
    "globalThis.mark = 1; Object.prototype.mark = 1; Array.prototype.map = () => ['x']; return 1",
    "JSON.stringify = () => '\"mine\"'; Promise.prototype.then = () => {}; Math.max = () => 9; return 1",
    "globalThis.later = Promise.resolve().then(() => Promise.resolve()).then(() => { globalThis.mark = 1 }); throw 1",
    "Object.defineProperty(Object.prototype, 'json', { set() { globalThis.mark = 1 } }); Object.freeze(Array.prototype)",
    "ctx.secrets.get('x').then(() => { globalThis.mark = 1 }); Symbol.for('mark'); for (;;) {}",
  ]) {
    await first(dirt);
    expect(await first(probe)).toEqual(clean);
  }
});
