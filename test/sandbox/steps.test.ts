import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import { StepFailure, type StepCall } from "#services/workflows/tick.ts";
import { HOST, stepCallIn, stepCallFor } from "./workflowCalls.ts";

/* A step runs in a sandbox, and uses the platform through its context. */

const runner = openWorkflows({ processes: 2, cpu_ms: 500 });
afterAll(() => runner.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const done = async (body: string, more: Partial<StepCall> = {}): Promise<unknown> =>
  JSON.parse((await runner.step(stepCallFor(body, more))).json);
const failureOf = (call: StepCall): Promise<StepFailure> =>
  runner.step(call).then(
    ({ json }) => expect.unreachable(`it returned ${json}`),
    (error) => error,
  );
const failure = (body: string, more: Partial<StepCall> = {}) => failureOf(stepCallFor(body, more));

describe("a step", () => {
  test("receives its arguments and the data of its attempt", async () => {
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

  test("may be a plain function or one with settings, and its result is JSON", async () => {
    const js =
      "import { defineStep } from 'svc:workflow';\nexport const steps = { plain: (args) => new Date(0), made: defineStep({ retries: 0 }, async (args) => new Map([[1, 2]])), none() {} };";
    expect((await runner.step(stepCallIn(js, { step: "plain" }))).json).toBe('"1970-01-01T00:00:00.000Z"');
    expect((await runner.step(stepCallIn(js, { step: "made" }))).json).toBe("{}");
    expect((await runner.step(stepCallIn(js, { step: "none" }))).json).toBe("null");
    for (const step of ["nope", "toString", "__proto__"])
      expect(await failureOf(stepCallIn(js, { step }))).toMatchObject({ code: "unknown_step", final: true });
  });

  test("has a running clock and its own random numbers", async () => {
    const before = Date.now();
    const [now, chance] = (await done("return [Date.now(), Math.random()]")) as [number, number];
    expect(now).toBeGreaterThanOrEqual(before);
    expect(await done("return Math.random()")).not.toBe(chance);
  });

  test("keeps its logs up to a limit, even if it fails", async () => {
    expect((await runner.step(stepCallFor("ctx.log('a', { b: 1 }); log('c')"))).logs).toEqual(['a {"b":1}', "c"]);
    expect((await failure("ctx.log('before'); throw new Error('x')")).logs).toEqual(["before"]);
    const { logs } = await runner.step(stepCallFor("for (let n = 0; n < 300; n++) ctx.log('x'.repeat(1000))"));
    expect(logs).toHaveLength(262);
    expect(logs.at(-1)).toMatch(/not kept/);
  });
});

describe("fetch() of a step", () => {
  const sent = async (init: string) =>
    (await done(`return (await ctx.fetch("https://shop.example/orders", ${init})).json()`)) as Record<string, unknown>;

  test("goes through the host, and returns status, headers and body", async () => {
    const answer = await done(
      "const r = await ctx.fetch('https://shop.example/a', { headers: [['X-A', 1]] }); return [r.status, r.ok, r.headers.get('Content-Type'), await r.json()]",
    );
    const request = { url: "https://shop.example/a", method: "GET", headers: [["X-A", "1"]], body: null };
    expect(answer).toEqual([200, true, "application/json", request]);
  });

  const writeKey = async (init: string): Promise<unknown> => (await sent(init))["headers"];

  test("adds an idempotency key to a changing method, unless the step sets one", async () => {
    for (const method of ["POST", "put", "PATCH", "DELETE"])
      expect(await writeKey(`{ method: "${method}" }`)).toEqual([["Idempotency-Key", expect.stringMatching(UUID)]]);
    expect(await writeKey('{ method: "HEAD" }')).toEqual([]);
    const own = [["idempotency-key", "own"]];
    expect(await writeKey(`{ method: "POST", headers: ${JSON.stringify(own)} }`)).toEqual(own);
  });

  test("gives each write of a step its own key, which is identical in every attempt", async () => {
    const keysOf = async (bodies: string[], attempt: number, idempotency_key = "key-1") => {
      const { context } = stepCallFor("");
      const body = `const keys = [];
        for (const body of ${JSON.stringify(bodies)}) {
          const { headers } = await (await ctx.fetch("https://shop.example/pay", { method: "POST", body })).json();
          keys.push(headers[0][1]);
        }
        return keys;`;
      return (await done(body, { context: { ...context, attempt, idempotency_key } })) as string[];
    };
    const first = await keysOf(["ann", "bob", "ann"], 1);
    expect(new Set(first).size).toBe(3);
    expect(await keysOf(["ann", "bob", "ann"], 2)).toEqual(first);
    // An attempt that leaves a write out gives the others no other key.
    expect(await keysOf(["bob", "ann", "ann"], 3)).toEqual([first[1], first[0], first[2]]);
    expect(await keysOf(["ann"], 1, "key-2")).not.toEqual([first[0]]);
  });

  test("fails with the message and the code of the host", async () => {
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
    // in another error it is the script's own failure
    expect(
      await failure(`try { ${fetched} } catch (cause) { throw new Error('x', { cause }) }`, { host }),
    ).toMatchObject({ code: "step_error", final: false });
    expect(await failure("throw Object.assign(new Error('x'), { code: 'runner_lost', final: true })")).toMatchObject({
      code: "step_error",
      final: false,
    });
  });

  test("is refused when the request is too large", async () => {
    expect((await failure("await ctx.fetch('https://a.example/' + 'x'.repeat(9000))")).message).toMatch(/too long/);
    expect(
      await failure("await ctx.fetch('https://a.example', { method: 'POST', body: 'x'.repeat(2e6) })"),
    ).toMatchObject({
      message: "The request is too large.",
    });
  });
});

describe("a step", () => {
  test("reads secrets", async () => {
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

  test("calls the platform, and its calls are numbered", async () => {
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

  test("fails without a retry if it calls a function of run()", async () => {
    const waits = ["startRun", "waitForRun", "waitForEvent", "agent", "sleep", "sleepUntil"];
    for (const name of ["runStep", "runStepMany", "awaitApproval", ...waits, "complete", "continueAs", "now", "uuid"])
      for (const call of [`ctx.${name}('work')`, `${name}('work')`])
        expect(await failure(`await ${call}`)).toMatchObject({ code: "nested_step", final: true, line: 2 });
    const js = "import { runStep } from 'svc:workflow'; export const steps = { work: () => runStep('work') }";
    expect(await failureOf(stepCallIn(js))).toMatchObject({ code: "nested_step" });
  });
});

describe("a failure of a step", () => {
  test("has the error's message and line", async () => {
    expect(await failure("\nthrow new RangeError('no stock')")).toMatchObject({
      name: "StepFailure",
      code: "step_error",
      message: "RangeError: no stock",
      line: 3,
      final: false,
      retry_after_ms: null,
    });
    expect(await failureOf(stepCallIn("throw new Error('top')"))).toMatchObject({ code: "step_error", message: "top" });
    expect(await failureOf(stepCallIn("import 'node:fs'"))).toMatchObject({
      message: expect.stringMatching(/imports nothing but svc:workflow/),
    });
    expect(await failure("await new Promise(() => {})")).toMatchObject({
      message: expect.stringMatching(/never settles/),
      final: true,
    });
  });

  test("allows no retry if the script says so", async () => {
    expect(await failure("throw new ctx.NonRetryableError('declined')")).toMatchObject({
      code: "step_error",
      message: "NonRetryableError: declined",
      final: true,
    });
    expect(await failure("throw new NonRetryableError('declined')")).toMatchObject({ final: true });
    expect(await failure("class Mine extends NonRetryableError {} throw new Mine('x')")).toMatchObject({ final: true });
  });

  test("has the time of the next attempt from the error or from the last answer", async () => {
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
    ["a NaN", "return { 'a/b': NaN }", "NaN at /a~1b"],
    ["a cycle", "const o = {}; o.o = { o }; return o", "a cycle at /o/o"],
    ["a large integer", "return [1n]", "a bigint at /0"],
    ["a symbol", "return Symbol('x')", "a symbol at /"],
  ])("names the position of %s in the result", async (_, body, where) => {
    expect(await failure(body)).toMatchObject({
      code: "step_error",
      final: true,
      message: `TypeError: The result of the step: not serialisable, ${where}.`,
    });
  });

  test("allows no retry if the result is too large or nests too deep", async () => {
    expect(await failure("return 'x'.repeat(2000)", { max_result_bytes: 1024 })).toMatchObject({
      code: "step_result_too_large",
      final: true,
    });
    expect(await done("return 'ä'.repeat(500)", { max_result_bytes: 1024 })).toHaveLength(500);
    expect(await failure("return 'ä'.repeat(600)", { max_result_bytes: 1024 })).toMatchObject({
      code: "step_result_too_large",
    });
    expect(await failure("let a = []; for (let n = 0; n < 300; n++) a = [a]; return a")).toMatchObject({
      message: expect.stringMatching(/nests too deep/),
      final: true,
    });
  });
});

describe("an attempt", () => {
  const slow = (ms: number): StepCall["host"] => ({
    ...HOST,
    fetch: (_, signal) => wait(ms, { status: 200, headers: [], body: "" }, { signal }),
  });

  test("is stopped with its requests after its timeout", async () => {
    let isAborted = false;
    const host: StepCall["host"] = {
      ...HOST,
      fetch: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            isAborted = true;
            reject(new Error("gone"));
          });
        }),
    };
    expect(await failure("await ctx.fetch('https://slow.example')", { timeout_ms: 100, host })).toMatchObject({
      code: "step_timeout",
      message: "The step took longer than 0.1 seconds.",
      final: false,
    });
    expect(isAborted).toBe(true);
    expect(await done("return 1")).toBe(1);
  });

  test("may have a timeout with a fraction of a millisecond", async () => {
    const host = { ...HOST, fetch: () => new Promise<never>(() => {}) };
    expect(await failure("await ctx.fetch('https://slow.example')", { timeout_ms: 100.5, host })).toMatchObject({
      code: "step_timeout",
      message: "The step took longer than 0.1005 seconds.",
    });
  });

  test("may wait for longer than its CPU limit", async () => {
    const body = "for (let n = 0; n < 8; n++) await ctx.fetch('https://slow.example'); return 1";
    expect(await done(body, { host: slow(100) })).toBe(1);
  });

  test("throws the reason if it is aborted, even before its start", async () => {
    const aborter = new AbortController();
    const waiting = runner.step(stepCallFor("await ctx.fetch('x')", { signal: aborter.signal, host: slow(20_000) }));
    setTimeout(() => aborter.abort(new Error("cancelled")), 50);
    await expect(waiting).rejects.toThrow("cancelled");
    await expect(runner.step(stepCallFor("return 1", { signal: aborter.signal }))).rejects.toThrow("cancelled");
  });

  test("waits concurrently with 63 others", async () => {
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
