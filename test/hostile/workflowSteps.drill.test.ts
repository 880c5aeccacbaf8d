import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, test, vi } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import { StepFailure, type StepCall } from "#services/workflows/tick.ts";
import { childrenOf, isRunning, residentMb } from "../processes.ts";
import { HOST, stepCallIn, stepCallFor } from "../sandbox/workflowCalls.ts";

vi.setConfig({ testTimeout: 120_000 });

/* Hostile steps. */

const runner = openWorkflows({ processes: 1, cpu_ms: 300 });
afterAll(() => runner.close());

const failureOf = (call: StepCall): Promise<StepFailure> =>
  runner.step(call).then(
    ({ json }) => expect.unreachable(`it returned ${json.slice(0, 200)}`),
    (error) => error,
  );
const failure = (body: string, more: Partial<StepCall> = {}) =>
  failureOf(stepCallFor(body, { organization_id: "hostile", ...more }));
const done = async (body: string, more: Partial<StepCall> = {}) =>
  JSON.parse((await runner.step(stepCallFor(body, { organization_id: "other", ...more }))).json);

const stepProcesses = (): number[] =>
  childrenOf(process.pid).filter((pid) => isRunning(pid, /workflowScripts\.ts\0steps/));

const NATIVE = "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')";

describe("a step that never ends is stopped, and the next one runs:", () => {
  test.each([
    ["a loop", "for (;;) {}"],
    ["a loop that catches", "for (;;) try { for (;;) {} } catch {}"],
    ["a native operation", `return ${NATIVE}`],
    ["endless microtasks", "const f = () => Promise.resolve().then(f); await f()"],
    ["a getter of a message", "throw { get message() { for (;;) {} } }"],
    [
      "a getter of retryAfter",
      "const e = new Error('x'); Object.defineProperty(e, 'retryAfter', { get() { for (;;) {} } }); throw e",
    ],
    ["toJSON of the result", "return { toJSON() { for (;;) {} } }"],
    ["toJSON of an input", "await ctx.chat({ toJSON() { for (;;) {} } })"],
    ["toString of a secret's name", "await ctx.secrets.get({ toString() { for (;;) {} } })"],
    ["a loop after an answer", "await ctx.secrets.get('x'); for (;;) {}"],
    ["loops between answers", "for (;;) { await ctx.secrets.get('x'); for (let n = 0; n < 1e6; n++); }"],
  ])("%s", async (_, body) => {
    const { code, final } = await failure(body);
    expect([code, final]).toEqual(["step_limit", true]);
    expect(await done("return 1")).toBe(1);
  });

  test("a loop or a wait at the top level of a module", async () => {
    expect(await failureOf(stepCallIn("for (;;) {}"))).toMatchObject({ code: "step_limit" });
    expect(await failureOf(stepCallIn("await new Promise(() => {})"))).toMatchObject({
      message: expect.stringMatching(/never settles/),
    });
  });
});

describe("a step that grows without end is stopped:", () => {
  test.each([
    ["a list", "const all = []; for (;;) all.push(new Array(1e5).fill(1))"],
    ["buffers", "const all = []; for (;;) all.push(new ArrayBuffer(8e6))"],
    ["a string", "let s = 'x'; for (;;) s += s"],
    ["a result in layers", "let a = []; for (let n = 0; n < 1e5; n++) a = [a]; return a"],
    ["recursion", "const f = () => f() + 1; return f()"],
    ["requests at once", "await Promise.all(Array.from({ length: 21 }, () => ctx.secrets.get('x')))"],
    ["large requests at once", "await Promise.all([1, 2, 3].map(() => ctx.chat('x'.repeat(9e5))))"],
    ["requests without end", "for (;;) await ctx.secrets.get('x')"],
  ])("%s", async (_, body) => {
    expect((await failure(body)).message).not.toBe("");
    expect(await done("return 1")).toBe(1);
  });

  test("many steps of one tenant that together use too much memory, at that tenant's cost only", async () => {
    const gate = Promise.withResolvers<void>();
    const host: StepCall["host"] = { ...HOST, secret: () => gate.promise.then(() => "x") };
    const body = "const held = new Uint8Array(5e7).fill(1); await ctx.secrets.get('x'); return held.length";
    const greedy = Array.from({ length: 24 }, () =>
      runner.step(stepCallFor(body, { organization_id: "hostile", host })).then(
        () => "done",
        ({ code, final }: StepFailure) => `${code} ${final}`,
      ),
    );
    const others = Array.from({ length: 4 }, (_, n) =>
      done(`await ctx.secrets.get('x'); return ${n}`, { host, organization_id: `o${n}` }),
    );
    const first = await Promise.race(greedy);
    expect(first).toBe("step_limit false");
    for (const pid of stepProcesses()) expect(residentMb(pid)).toBeLessThan(2_000);
    gate.resolve();
    expect(await Promise.all(others)).toEqual([0, 1, 2, 3]);
    expect(new Set(await Promise.all(greedy))).toEqual(new Set(["step_limit false", "done"]));
  });
});

describe("a hostile tenant does not affect others:", () => {
  test("steps that wait in the same process continue when the thread of another tenant is ended", async () => {
    const gate = Promise.withResolvers<void>();
    const host: StepCall["host"] = { ...HOST, secret: () => gate.promise.then(() => "x") };
    const waiting = Array.from({ length: 10 }, (_, n) =>
      done(`await ctx.secrets.get('x'); return ${n}`, { host, organization_id: `o${n}` }),
    );
    const stuck = await Promise.all(Array.from({ length: 3 }, () => failure(`return ${NATIVE}`)));
    gate.resolve();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 10 }, (_, n) => n));
    // of the steps in a thread one is at fault, and the others are lost with it
    expect(stuck.map(({ code }) => code)).toContain("step_limit");
    for (const { code } of stuck) expect(["step_limit", "runner_lost"]).toContain(code);
  });

  test("a step that timed out keeps its thread until it has ended", async () => {
    const late = await failure(`return ${NATIVE}`, { timeout_ms: 50 });
    expect(late.code).toBe("step_timeout");
    expect(
      await Promise.all(Array.from({ length: 8 }, (_, n) => done(`return ${n}`, { organization_id: `o${n}` }))),
    ).toHaveLength(8);
  });

  test("a step sees no changes of an earlier one", async () => {
    const probe =
      "return [typeof mark, typeof ({}).mark, JSON.parse('[1]')[0], [1].map((x) => x)[0], typeof ctx.fetch]";
    const clean = await done(probe);
    for (const dirt of [
      "globalThis.mark = 1; Object.prototype.mark = 1; JSON.parse = () => ['x']; Array.prototype.map = () => ['x']",
      "globalThis.fetch = () => 'mark'; Promise.prototype.then = () => {}; new Promise(() => {}).then(() => 1)",
    ]) {
      await runner.step(stepCallFor(dirt, { organization_id: "hostile" })).catch(() => {});
      expect(await done(probe)).toEqual(clean);
    }
  });

  test("an answer that arrives after the end of its step reaches no other step", async () => {
    const gate = Promise.withResolvers<string>();
    const host: StepCall["host"] = { ...HOST, secret: () => gate.promise };
    expect(
      await done("ctx.secrets.get('x').then((s) => { globalThis.mark = s }); return 1", {
        host,
        organization_id: "hostile",
      }),
    ).toBe(1);
    const next = done("await ctx.secrets.get('y'); return typeof mark", { organization_id: "hostile" });
    gate.resolve("late");
    expect(await next).toBe("undefined");
  });
});

test("a killed process loses its steps, and the next step gets another process", async () => {
  const lost = runner.step(
    stepCallFor("await ctx.secrets.get('x')", {
      host: {
        ...HOST,
        secret: () => {
          for (const pid of stepProcesses()) process.kill(pid, "SIGKILL");
          return new Promise(() => {});
        },
      },
    }),
  );
  await expect(lost).rejects.toMatchObject({ code: "runner_lost", final: false });
  expect(await done("return 1")).toBe(1);
});

test("the processes of a runner end when its own process is killed", async () => {
  const parent = fork(new URL("./workflowsParent.ts", import.meta.url), { execArgv: [] });
  await once(parent, "message");
  const pids = childrenOf(parent.pid!);
  expect(pids).toHaveLength(2);
  parent.kill("SIGKILL");
  while (pids.some((pid) => isRunning(pid, /workflowScripts\.ts\0/))) await wait(20);
});

test("a step sees nothing of this machine and cannot leave its VM", async () => {
  const names =
    "process require WebAssembly performance SharedArrayBuffer Atomics fetch std request addLog deliverResult";
  expect(await done(`return ${JSON.stringify(names.split(" "))}.filter((name) => name in globalThis)`)).toEqual([]);
  for (const way of [
    "ctx.fetch.constructor('return typeof process')()",
    "(0, eval)('typeof process')",
    "await ctx.secrets.get('x'.repeat(2e6)).catch((e) => e.constructor.constructor('return typeof process')())",
  ])
    expect(await done(`return ${way}`)).toBe("undefined");
  const host = { ...HOST, secret: () => Promise.reject(new Error("no")) };
  for (const thrown of ["ctx.secrets.get('x')", "ctx.fetch('x'.repeat(9e3))", "import('node:fs')"])
    expect(await done(`return await ${thrown}.catch((e) => e.stack + e.message)`, { host })).not.toMatch(
      /infra|node_modules|file:/,
    );
});

describe("requests of a step stay intact if the script breaks", () => {
  test.each([
    ["JSON", "JSON.stringify = () => 'x'; JSON.parse = () => ({})"],
    ["toJSON", "Object.prototype.toJSON = () => undefined; Array.prototype.toJSON = () => ({ url: 1 })"],
    ["setters", "Object.defineProperty(Array.prototype, '0', { set() {}, get: () => 'x' })"],
    ["iterators", "Array.prototype[Symbol.iterator] = function* () { yield 'x' }"],
    ["calls", "Function.prototype.call = Function.prototype.apply = () => 'x'; Reflect.apply = () => 'x'"],
    ["promises", "Promise.prototype.then = () => 1; Promise.resolve = () => 1"],
    ["objects", "Object.entries = () => [[1, 2]]; Object.setPrototypeOf = () => ({}); Object.freeze = () => 1"],
    ["maps", "WeakMap.prototype.get = () => ({ final: true, code: 'runner_lost' })"],
  ])("%s", async (_, tricks) => {
    const requests: unknown[] = [];
    const host: StepCall["host"] = {
      fetch: async (request) => {
        requests.push(request);
        return { status: 200, headers: [], body: "hello" };
      },
      secret: async (name) => {
        requests.push(name);
        return "x";
      },
      call: async (what) => {
        requests.push(what);
        return null;
      },
    };
    await runner
      .step(
        stepCallFor(
          `${tricks}; await ctx.fetch("https://a.example/", { method: "PUT", headers: { "X-A": "b" }, body: "c" }); await ctx.secrets.get("key"); await ctx.chat({ model: "m" })`,
          { host },
        ),
      )
      .catch(() => {});
    expect(requests[0]).toEqual({
      url: "https://a.example/",
      method: "PUT",
      headers: [
        ["X-A", "b"],
        ["Idempotency-Key", expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ],
      body: "c",
    });
    expect(requests.slice(1)).toEqual(["key", "chat"].slice(0, requests.length - 1));
  });
});
