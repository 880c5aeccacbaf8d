import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { beforeEach, describe, expect, test } from "vitest";
import { QuickJS } from "quickjs-wasi";
import { createAheadVm } from "./aheadVm.ts";
import { compile, vmOptions } from "./guestCode.ts";
import { stepOrder } from "./messages.ts";

const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => never };
const wasm = new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")));

const watched: boolean[] = [];
let vm: ReturnType<typeof createAheadVm>;
beforeEach(async () => {
  watched.length = 0;
  vm = createAheadVm({ wasm, watch: (runs) => void watched.push(runs) });
  await vm.prepare();
});

async function codeOf(js: string): Promise<Uint8Array> {
  const made = await QuickJS.create(vmOptions({ wasm, memory: 2 ** 25, interrupt: () => false, now: () => 0 }));
  return compile(made, js);
}
const context = {
  run_id: "r1",
  step_id: "s1",
  attempt: 1,
  idempotency_key: "i1",
  run_as: { type: "service" as const, id: null },
};
const orderOf = (sha256: string, args = "{}", max_result_bytes = 1_000) =>
  stepOrder(context, { sha256, step: "work", args, max_result_bytes });
const moduleOf = (body: string) => `export const steps = { work: async (args, ctx) => { ${body} } };`;
/** What a step comes to that has this body, as often as it is run. */
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

describe("a step that asks nothing", () => {
  test("is run at once, with its arguments, its context and its logs", async () => {
    expect(await first("ctx.log('a', args.n); await null; return [args.n, ctx.runId, ctx.attempt]", '{"n":3}')).toEqual(
      { json: '[3,"r1",1]', logs: ["a 3"] },
    );
    expect(watched).toEqual([true, false]);
  });
  test("comes to null where it gives nothing back", async () => {
    expect(await first("")).toEqual({ json: "null", logs: [] });
  });
  test("has chance of its own each time, and a clock that goes", async () => {
    const before = Date.now();
    const all = await runs("return [Math.random(), Date.now()]", 3);
    const told = all.map((one) => JSON.parse(one!.json) as [number, number]);
    expect(new Set(told.map(([chance]) => chance)).size).toBe(3);
    for (const [, now] of told) expect(now).toBeGreaterThanOrEqual(before);
  });
});

test("nothing can be run before there was time to make a VM", async () => {
  const cold = createAheadVm({ wasm, watch: () => {} });
  // the first of the thread has made what all start from; this one has no VM of its own yet
  expect(cold.run(orderOf("cold"), await codeOf(moduleOf("return 1")))).toBeUndefined();
});

describe("nothing has come of a step, and it is not tried again, that", () => {
  test.each([
    ["asks for a secret", "return ctx.secrets.get('x')"],
    ["fetches", "return (await ctx.fetch('https://a.example')).status"],
    ["asks a model", "return ctx.chat({})"],
    ["asks and does not wait for it", "ctx.tools.call('x'); return 1"],
    ["asks and catches what comes of it", "try { await ctx.knowledge.search({}) } catch {} return 1"],
    ["loops", "for (;;) {}"],
    ["loops and catches", "for (;;) try { for (;;) {} } catch {}"],
    ["leaves endless work behind", "const f = () => Promise.resolve().then(f); f(); return 1"],
    ["loops in its result", "return { toJSON() { for (;;) {} } }"],
  ])("%s", async (_, body) => {
    expect(await runs(body, 2)).toEqual([undefined, undefined]);
    // the second time it was not even begun
    expect(watched).toEqual([true, false]);
    expect(await first("return 1")).toMatchObject({ json: "1" });
  });
  test("asks only sometimes: it is known by its name and script, whatever its arguments", async () => {
    const body = "if (args.asks) await ctx.secrets.get('x'); return 1";
    const code = await codeOf(moduleOf(body));
    expect(vm.run(orderOf("x", '{"asks":false}'), code)).toMatchObject({ json: "1" });
    expect(vm.run(orderOf("x", '{"asks":true}'), code)).toBeUndefined();
    expect(vm.run(orderOf("x", '{"asks":false}'), code)).toBeUndefined();
    // the same step of another version is another
    expect(vm.run(orderOf("y", '{"asks":false}'), code)).toMatchObject({ json: "1" });
  });
});

describe("nothing has come of a step that", () => {
  test.each([
    ["throws", "throw new Error('no')"],
    ["waits for what never comes", "await new Promise(() => {})"],
    ["calls what only run() may", "await ctx.runStep('work')"],
    ["gives what JSON does not know", "return () => 1"],
    ["gives too much", "return 'x'.repeat(1_000)"],
    ["gives too much in bytes", "return 'ä'.repeat(600)"],
    ["nests too deep", "let a = []; for (let n = 0; n < 300; n++) a = [a]; return a"],
    ["needs too much memory", "return new Uint8Array(1e9).length"],
    ["recurses without end", "const f = () => f() + 1; return f()"],
  ])("%s", async (_, body) => {
    expect(await first(body)).toBeUndefined();
    await vm.prepare();
    expect(await first("return 1")).toMatchObject({ json: "1" });
  });
  test("stands in a module that throws", async () => {
    expect(vm.run(orderOf("top"), await codeOf(`${moduleOf("return 1")}\nthrow new Error("top")`))).toBeUndefined();
  });
  test("there is not", async () => {
    const code = await codeOf(moduleOf("return 1"));
    expect(vm.run({ ...orderOf("x"), step: "other" }, code)).toBeUndefined();
    expect(vm.run({ ...orderOf("x"), step: "toString" }, code)).toBeUndefined();
  });
});

test("one that made its memory large is followed by none until there is time for another VM", async () => {
  expect(await first("return new Uint8Array(2e7).length")).toMatchObject({ json: "20000000" });
  const code = await codeOf(moduleOf("return 1"));
  expect(vm.run(orderOf("after"), code)).toBeUndefined();
  await vm.prepare();
  expect(vm.run(orderOf("after"), code)).toMatchObject({ json: "1" });
});

test("of one step nothing is seen by the next", async () => {
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
