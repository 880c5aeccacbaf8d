import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { openWorkflows } from "#infra/scripts/workflows/openWorkflows.ts";
import { StepFailure, type StepCall } from "#services/workflows/tick.ts";
import { HOST, stepIn, stepOf } from "./ticking.ts";

/* A step is executed as a scripted tool is, and asks the platform through its context. */

const runner = openWorkflows({ processes: 2, cpu_ms: 500 });
afterAll(() => runner.close());

const done = async (body: string, more: Partial<StepCall> = {}): Promise<unknown> =>
  JSON.parse((await runner.step(stepOf(body, more))).json);
const failureOf = (call: StepCall): Promise<StepFailure> =>
  runner.step(call).then(
    ({ json }) => expect.unreachable(`it came to ${json}`),
    (error) => error,
  );
const failure = (body: string, more: Partial<StepCall> = {}) => failureOf(stepOf(body, more));

describe("a step", () => {
  test("gets its arguments and what is told of the attempt", async () => {
    const context = {
      run_id: "run-1",
      step_id: "step-1",
      attempt: 3,
      idempotency_key: "key-3",
      run_as: { type: "person" as const, id: "p1" },
    };
    const body =
      "return { args, context: [ctx.runId, ctx.stepId, ctx.attempt, ctx.idempotencyKey, ctx.runAs], frozen: Object.isFrozen(ctx) }";
    expect(await done(body, { args: '{"n":[1,null]}', context })).toEqual({
      args: { n: [1, null] },
      context: ["run-1", "step-1", 3, "key-3", { type: "person", id: "p1" }],
      frozen: true,
    });
  });

  test("may be a plain function, or one with settings; its value is what JSON makes of it", async () => {
    const js =
      "import { defineStep } from 'svc:workflow';\nexport const steps = { plain: (args) => new Date(0), made: defineStep({ retries: 0 }, async (args) => new Map([[1, 2]])), none() {} };";
    expect((await runner.step(stepIn(js, { step: "plain" }))).json).toBe('"1970-01-01T00:00:00.000Z"');
    expect((await runner.step(stepIn(js, { step: "made" }))).json).toBe("{}");
    expect((await runner.step(stepIn(js, { step: "none" }))).json).toBe("null");
    for (const step of ["nope", "toString", "__proto__"])
      expect(await failureOf(stepIn(js, { step }))).toMatchObject({ code: "unknown_step", final: true });
  });

  test("has a clock and chance of its own", async () => {
    const before = Date.now();
    const [now, chance] = (await done("return [Date.now(), Math.random()]")) as [number, number];
    expect(now).toBeGreaterThanOrEqual(before);
    expect(await done("return Math.random()")).not.toBe(chance);
  });

  test("logs, up to a limit; the logs of a failure are kept too", async () => {
    expect((await runner.step(stepOf("ctx.log('a', { b: 1 }); log('c')"))).logs).toEqual(['a {"b":1}', "c"]);
    expect((await failure("ctx.log('before'); throw new Error('x')")).logs).toEqual(["before"]);
    const { logs } = await runner.step(stepOf("for (let n = 0; n < 300; n++) ctx.log('x'.repeat(1000))"));
    expect(logs).toHaveLength(262);
    expect(logs.at(-1)).toMatch(/not kept/);
  });
});

describe("fetch", () => {
  const sent = async (init: string) =>
    (await done(`return (await ctx.fetch("https://shop.example/orders", ${init})).json()`)) as Record<string, unknown>;

  test("goes through the host, and gives status, headers and body", async () => {
    const answer = await done(
      "const r = await ctx.fetch('https://shop.example/a', { headers: [['X-A', 1]] }); return [r.status, r.ok, r.headers.get('Content-Type'), await r.json()]",
    );
    const request = { url: "https://shop.example/a", method: "GET", headers: [["X-A", "1"]], body: null };
    expect(answer).toEqual([200, true, "application/json", request]);
  });

  test("sends the attempt's key with what changes something, and no other where one is set", async () => {
    for (const method of ["POST", "put", "PATCH", "DELETE"])
      expect((await sent(`{ method: "${method}" }`))["headers"]).toEqual([["Idempotency-Key", "key-1"]]);
    expect((await sent('{ method: "HEAD" }'))["headers"]).toEqual([]);
    expect((await sent('{ method: "POST", headers: { "idempotency-key": "own" } }'))["headers"]).toEqual([
      ["idempotency-key", "own"],
    ]);
  });

  test("fails with what the host says, and the code of it", async () => {
    const host = {
      ...HOST,
      fetch: () => Promise.reject(new StepFailure("egress_not_allowed", "The host is not allowed.", { final: true })),
    };
    const fetched = "await ctx.fetch('https://other.example')";
    expect(await failure(fetched, { host })).toMatchObject({
      code: "egress_not_allowed",
      message: "The host is not allowed.",
      final: true,
      line: 2,
    });
    expect(await done(`try { ${fetched} } catch (e) { return [e.code, e.final, e.message] }`, { host })).toEqual([
      "egress_not_allowed",
      true,
      "The host is not allowed.",
    ]);
    // wrapped in another error, it is the script's own
    expect(
      await failure(`try { ${fetched} } catch (cause) { throw new Error('x', { cause }) }`, { host }),
    ).toMatchObject({ code: "step_error", final: false });
    expect(await failure("throw Object.assign(new Error('x'), { code: 'runner_lost', final: true })")).toMatchObject({
      code: "step_error",
      final: false,
    });
  });

  test("is refused where it says too much", async () => {
    expect((await failure("await ctx.fetch('https://a.example/' + 'x'.repeat(9000))")).message).toMatch(/too long/);
    expect(
      await failure("await ctx.fetch('https://a.example', { method: 'POST', body: 'x'.repeat(2e6) })"),
    ).toMatchObject({
      message: "What is asked is too large.",
    });
  });
});

describe("what else a step asks", () => {
  test("secrets", async () => {
    expect(await done("return await ctx.secrets.get('shop_key')")).toBe("secret of shop_key");
    const host = {
      ...HOST,
      secret: () => Promise.reject(new StepFailure("secret_not_connected", "Not set.", { final: true })),
    };
    expect(await failure("await ctx.secrets.get('x')", { host })).toMatchObject({
      code: "secret_not_connected",
      final: true,
    });
  });

  test("the platform, each call numbered", async () => {
    const body =
      "await ctx.fetch('https://a.example'); await ctx.secrets.get('x'); return [await ctx.chat({ model: 'm' }), await ctx.agents.run({ agent_id: 'a' }), await ctx.knowledge.search({ query: 'q' }), await ctx.knowledge.read({ document_id: 'd' }), await ctx.tools.call('t', { x: 1 }), await ctx.tools.call('u')]";
    expect(await done(body)).toEqual([
      { what: "chat", input: { model: "m" }, nth: 0 },
      { what: "agent", input: { agent_id: "a" }, nth: 1 },
      { what: "search", input: { query: "q" }, nth: 2 },
      { what: "read", input: { document_id: "d" }, nth: 3 },
      { what: "tool", input: { name: "t", args: { x: 1 } }, nth: 4 },
      { what: "tool", input: { name: "u", args: {} }, nth: 5 },
    ]);
  });

  test("the calls of run() are refused, for good", async () => {
    for (const name of ["runStep", "runStepMany", "awaitApproval", "complete", "sleep", "sleepUntil", "now", "uuid"])
      for (const call of [`ctx.${name}('work')`, `${name}('work')`])
        expect(await failure(`await ${call}`)).toMatchObject({ code: "nested_step", final: true, line: 2 });
    const js = "import { runStep } from 'svc:workflow'; export const steps = { work: () => runStep('work') }";
    expect(await failureOf(stepIn(js))).toMatchObject({ code: "nested_step" });
  });
});

describe("a failure", () => {
  test("tells what was thrown, and where", async () => {
    expect(await failure("\nthrow new RangeError('no stock')")).toMatchObject({
      name: "StepFailure",
      code: "step_error",
      message: "RangeError: no stock",
      line: 3,
      final: false,
      retry_after_ms: null,
    });
    expect(await failureOf(stepIn("throw new Error('top')"))).toMatchObject({ code: "step_error", message: "top" });
    expect(await failureOf(stepIn("import 'node:fs'"))).toMatchObject({ message: /imports nothing but svc:workflow/ });
    expect(await failure("await new Promise(() => {})")).toMatchObject({ message: /never comes/, final: true });
  });

  test("is final where the script says so", async () => {
    expect(await failure("throw new ctx.NonRetryableError('declined')")).toMatchObject({
      code: "step_error",
      message: "NonRetryableError: declined",
      final: true,
    });
    expect(await failure("throw new NonRetryableError('declined')")).toMatchObject({ final: true });
    expect(await failure("class Mine extends NonRetryableError {} throw new Mine('x')")).toMatchObject({ final: true });
  });

  test("is told when to try again, by the script or by the last answer", async () => {
    const limited = (status: number, retry: string): StepCall["host"] => ({
      ...HOST,
      fetch: async ({ url }) => ({
        status: url.endsWith("fine") ? 200 : status,
        headers: [["Retry-After", retry]],
        body: "",
      }),
    });
    const body = "await ctx.fetch('https://a.example'); throw new Error('busy')";
    const after = async (text: string, host: StepCall["host"] = HOST) => (await failure(text, { host })).retry_after_ms;
    expect(await after("throw Object.assign(new Error('x'), { retryAfter: 1.5 })")).toBe(1_500);
    expect(await after("throw Object.assign(new Error('x'), { retryAfter: 1e18 })")).toBe(604_800_000);
    expect(await after("throw Object.assign(new Error('x'), { retryAfter: -5 })")).toBe(0);
    expect(await after("throw Object.assign(new Error('x'), { retryAfter: 'soon' })")).toBeNull();
    expect(await after(body, limited(429, "7"))).toBe(7_000);
    expect(await after(body, limited(503, "86400000"))).toBe(604_800_000);
    expect(await after(body, limited(500, "7"))).toBeNull();
    expect(await after(body, limited(429, "garbage"))).toBeNull();
    expect(await after(body, limited(429, ""))).toBeNull();
    const date = new Date(Date.now() + 60_000).toUTCString();
    const ms = await after(body, limited(429, date));
    expect(ms).toBeGreaterThan(50_000);
    expect(ms).toBeLessThanOrEqual(60_000);
    expect(
      await after(
        `await ctx.fetch('https://a.example'); await ctx.fetch('https://a.example/fine'); throw 1`,
        limited(429, "7"),
      ),
    ).toBeNull();
  });

  test.each([
    ["a function", "return { a: [() => 1] }", "a function at /a/0"],
    ["what is no number", "return { 'a/b': NaN }", "NaN at /a~1b"],
    ["a cycle", "const o = {}; o.o = { o }; return o", "a cycle at /o/o"],
    ["a large integer", "return [1n]", "a bigint at /0"],
    ["a symbol", "return Symbol('x')", "a symbol at /"],
  ])("where the result holds %s", async (_, body, where) => {
    expect(await failure(body)).toMatchObject({
      code: "step_error",
      final: true,
      message: `TypeError: The result of the step: not serialisable, ${where}.`,
    });
  });

  test("where the result is too large, or nests too deep", async () => {
    expect(await failure("return 'x'.repeat(2000)", { max_result_bytes: 1024 })).toMatchObject({
      code: "step_result_too_large",
      final: true,
    });
    expect(await done("return 'ä'.repeat(500)", { max_result_bytes: 1024 })).toHaveLength(500);
    expect(await failure("return 'ä'.repeat(600)", { max_result_bytes: 1024 })).toMatchObject({
      code: "step_result_too_large",
    });
    expect(await failure("let a = []; for (let n = 0; n < 300; n++) a = [a]; return a")).toMatchObject({
      message: /nests too deep/,
      final: true,
    });
  });
});

describe("time", () => {
  const slow = (ms: number): StepCall["host"] => ({
    ...HOST,
    fetch: (_, signal) => wait(ms, { status: 200, headers: [], body: "" }, { signal }),
  });

  test("an attempt that takes longer than it may is ended, and what it asked for with it", async () => {
    let aborted = false;
    const host: StepCall["host"] = {
      ...HOST,
      fetch: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("gone"));
          });
        }),
    };
    expect(await failure("await ctx.fetch('https://slow.example')", { timeout_ms: 100, host })).toMatchObject({
      code: "step_timeout",
      message: "The step took longer than 0.1 seconds.",
      final: false,
    });
    expect(aborted).toBe(true);
    expect(await done("return 1")).toBe(1);
  });

  test("waiting is not counted as computing", async () => {
    const body = "for (let n = 0; n < 8; n++) await ctx.fetch('https://slow.example'); return 1";
    expect(await done(body, { host: slow(100) })).toBe(1);
  });

  test("an attempt that is aborted throws the reason, also one that waits for a place", async () => {
    const cut = new AbortController();
    const waiting = runner.step(stepOf("await ctx.fetch('x')", { signal: cut.signal, host: slow(20_000) }));
    setTimeout(() => cut.abort(new Error("cancelled")), 50);
    await expect(waiting).rejects.toThrow("cancelled");
    await expect(runner.step(stepOf("return 1", { signal: cut.signal }))).rejects.toThrow("cancelled");
  });

  test("many wait at once", async () => {
    let open = 0;
    const gate = Promise.withResolvers<void>();
    const host: StepCall["host"] = {
      ...HOST,
      fetch: async () => {
        open += 1;
        if (open === 64) gate.resolve();
        await gate.promise;
        return { status: 200, headers: [], body: "" };
      },
    };
    const steps = Array.from({ length: 64 }, (_, n) =>
      done("await ctx.fetch('https://a.example'); return args.n", {
        args: `{"n":${n}}`,
        host,
        organization_id: `o${n % 2}`,
      }),
    );
    expect(await Promise.all(steps)).toEqual(Array.from({ length: 64 }, (_, n) => n));
  });
});
