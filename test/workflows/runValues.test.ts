import { describe, expect, test } from "vitest";
import { openWorkflows, workflowSource } from "./harness.ts";

/* Values in runs: unusual, large, or many. */

const w = await openWorkflows();

const ECHO = `echo: (args) => args`;
const codeOf = ({ status, error_info }: any) => [status, error_info?.code];

describe("unusual values (NUL, lone surrogates, prototype names)", () => {
  const odd = JSON.parse(
    '{"nul":"a\\u0000b","half":"\\ud800","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"":"","2":"two","é":1e-7}',
  );

  test("pass unchanged through arguments, steps, approvals, logs and results", async () => {
    const { home } = w;
    const hook = await home.hook(
      await home.register(
        workflowSource(
          `ctx.log(args.nul, args.half);
          const fromStep = await ctx.runStep("echo", args);
          const { data, comment } = await ctx.awaitApproval(args.nul, { title: args.half, body: args.nul });
          return { fromStep, data, comment, own: Object.keys(args), polluted: ({}).polluted ?? null };`,
          `echo: (args, ctx) => { ctx.log(args.half); return args; }`,
        ),
      ),
    );
    const { run_id } = await home.call(hook, odd);
    const [approval] = await home.pending(run_id);
    expect([approval.name, approval.title, approval.body]).toEqual([odd.nul, odd.half, odd.nul]);
    const data = { nul: odd.nul, half: odd.half };
    expect((await home.decide(approval, { decision: "approve", data, comment: odd.half })).status).toBe(200);
    const expected = { fromStep: odd, data, comment: odd.half, own: Object.keys(odd), polluted: null };
    expect((await home.polled(hook, run_id)).result).toEqual(expected);
    const record = await home.untilOver(run_id);
    expect([record.result, record.args]).toEqual([expected, odd]);
    const [step] = record.steps;
    expect([step.args, step.result, step.attempts[0].logs]).toEqual([odd, odd, [odd.half]]);
    expect(record.logs).toEqual([{ tick: 1, text: `${odd.nul} ${odd.half}` }]);
  });

  test("are kept in the error of a step and of run()", async () => {
    const thrown = (call: string) => workflowSource(call, `fail: ({ text }) => { throw new NonRetryableError(text); }`);
    for (const body of [`await ctx.runStep("fail", { text: args.text });`, `throw new Error(args.text);`]) {
      const text = `${odd.nul}${odd.half}`;
      const { status, error } = await w.home.run(thrown(body), { text });
      expect([status, error]).toEqual(["failed", expect.stringContaining(text)]);
    }
  });
});

describe("a value that is too large or too deep", () => {
  const deep = `(() => { let a = 1; for (let n = 0; n < 10_000; n++) a = [a]; return a; })()`;
  test.each([
    [
      "a step's result of 1 MiB and one byte",
      `return (await ctx.runStep("text", { n: 1_048_575 })).length;`,
      "step_result_too_large",
    ],
    ["a step's arguments", `await ctx.runStep("echo", "x".repeat(262_143));`, "run_error"],
    ["the result of run()", `return "x".repeat(1_048_575);`, "result_too_large"],
    ["the result of complete()", `return ctx.complete("x".repeat(1_048_575));`, "run_error"],
    ["arguments that are deep", `await ctx.runStep("echo", ${deep});`, "not_serialisable"],
    ["a step's result that is deep", `await ctx.runStep("deep", {});`, "step_error"],
    ["a result that is deep", `return ${deep};`, "result_too_large"],
  ])("is refused as %s", async (_, body, code) => {
    const steps = `${ECHO}, text: ({ n }) => "x".repeat(n), deep: () => ${deep}`;
    const record = await w.home.run(workflowSource(body, steps));
    expect([codeOf(record), record.result, record.error]).toEqual([
      ["failed", code],
      null,
      expect.stringMatching(/\S/),
    ]);
    for (const { attempts } of record.steps) expect(attempts).toHaveLength(1);
  });

  test("is accepted at exactly the limit", async () => {
    const record = await w.home.run(
      workflowSource(
        `const text = await ctx.runStep("text", { n: 1_048_574 });
        const { length } = await ctx.runStep("echo", "x".repeat(262_142));
        return text.slice(0, -length) + "y".repeat(length);`,
        `${ECHO}, text: ({ n }) => "x".repeat(n)`,
      ),
    );
    expect([record.status, record.result.length, record.steps[0].result.length]).toEqual([
      "completed",
      1_048_574,
      1_048_574,
    ]);
  });
});

test("arguments that violate the schema of a step fail the run at once, with the position", async () => {
  const input = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] };
  const source = workflowSource(
    `const told = await ctx.runStep("pay", { amount: "5" }, { onError: "return" });
    return [told, await ctx.runStep("pay", { amount: 5 }), await ctx.runStep("pay", {})];`,
    `pay: defineStep({ input: ${JSON.stringify(input)} }, ({ amount }) => amount)`,
  );
  const record = await w.home.run(source);
  expect(codeOf(record)).toEqual(["failed", "invalid_step_args"]);
  expect(record.error).toMatch(/^The arguments of the step pay: \/amount: /);
  expect(record.steps.map(({ status, error, attempts }: any) => [status, error, attempts.length])).toEqual([
    ["failed", expect.stringContaining("/amount: "), 1],
    ["completed", null, 1],
    ["failed", record.error, 1],
  ]);
});

describe("a meaningless number", () => {
  test.each([
    ["retries: 1e18", "retries"],
    ["retries: -1", "retries"],
    ["retries: 1.5", "retries"],
    ["timeout_s: 1e18", "timeout_s"],
    ["timeout_s: 0", "timeout_s"],
    ["backoff: { initial_ms: 1e18 }", "backoff.initial_ms"],
    ["backoff: { factor: 1e18 }", "backoff.factor"],
    ["backoff: { max_ms: 1e18 }", "backoff.max_ms"],
    ["backoff: { jitter: 2 }", "backoff.jitter"],
    ["retry: 3", "retry"],
  ])("in the step setting %s is refused on save with its position", async (setting, field) => {
    const source = workflowSource("return 1;", `\n  odd: defineStep({ ${setting} }, () => 1)`);
    const { status, body } = await w.home.owner("POST", "/definitions", { type: "workflow", name: "absurd", source });
    expect([status, body.error.code]).toEqual([400, "invalid_definition"]);
    expect(body.error.message).toContain(field);
    expect(body.error.message).toContain("(line 3, column 3)");
  });

  test.each([
    [`await ctx.sleep(computed(1e18));`, "sleep: a duration is from 0 to 365 days"],
    [`await ctx.sleep(computed("400d"));`, "sleep: a duration is from 0 to 365 days"],
    [`await ctx.sleepUntil(computed("275760-09-13"));`, "sleepUntil: a time is"],
    [`await ctx.awaitApproval("a", { title: "t", expires_in: computed("1e18d") });`, "expires_in: a duration is"],
    [`await ctx.runStepMany("echo", Array(1_001).fill(1));`, "more than 1000"],
    [`await ctx.runStepMany("echo", [1], { concurrency: computed(1e18) });`, "concurrency must be"],
  ])("in %s fails the run with the reason", async (body, message) => {
    // a literal would be refused when the definition is saved
    const record = await w.home.run(workflowSource(`const computed = (value) => value; ${body}`, ECHO));
    expect([record.status, record.error, record.waiting_on]).toEqual(["failed", expect.stringContaining(message), []]);
  });

  test("for the retry delay of a step is limited to a week", async () => {
    const { home } = w;
    const source = workflowSource(
      `await ctx.runStep("later", {});`,
      `later: () => { throw Object.assign(new Error("busy"), { retryAfter: 1e18 }); }`,
    );
    const run = await home.start(await home.register(source));
    const { waiting_on } = await home.until(run, (record) => record.waiting_on[0]?.next_attempt_at);
    const days = (Date.parse(waiting_on[0].next_attempt_at) - Date.now()) / 86_400_000;
    expect([days > 6.9, days <= 7]).toEqual([true, true]);
    expect((await home.cancel(run)).status).toBe(200);
  });
});

const LONG = { timeout: 90_000 };
describe("a long run", () => {
  /** The ids of all events, read again from the start. */
  async function ids(run: string, last?: string): Promise<number[]> {
    const { text } = await w.home.owner(
      "GET",
      `/workflows/runs/${run}/events`,
      undefined,
      last ? { "last-event-id": last } : {},
    );
    return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }
  const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

  test.each([999, 1_000, 1_001])("of %s events completes, and its end is the last event", async (events) => {
    const source = workflowSource(`for (let n = 0; n < args.notes; n++) ctx.now("label " + n); return "done";`);
    const { id, status, result } = await w.home.run(source, { notes: events - 3 });
    expect([status, result, (await ids(id)).at(-1), await ids(id, String(events - 1))]).toEqual([
      "completed",
      "done",
      events,
      [events],
    ]);
  });

  test("of a thousand sequential steps completes, and one more step is refused", LONG, async () => {
    const { home } = w;
    const workflow = await home.register(
      workflowSource(
        `let n = 0; while (n < args.steps) n = await ctx.runStep("next", n); return n;`,
        `next: (n) => n + 1`,
      ),
    );
    const [whole, more] = await Promise.all([
      home.start(workflow, { steps: 1_000 }),
      home.start(
        await home.register(workflowSource(`await ctx.runStepMany("echo", [1, 2, 3]);`, ECHO), {
          limits: { max_steps: 2 },
        }),
      ),
    ]);
    const record = await home.untilOver(whole, LONG.timeout);
    const events = 3 + 3 * 1_000;
    expect(await ids(whole)).toEqual(upTo(1, events));
    for (const last of [999, 1_000, 1_001]) expect(await ids(whole, String(last))).toEqual(upTo(last + 1, events));
    expect([record.status, record.result, record.counts]).toEqual([
      "completed",
      1_000,
      { steps: 1_000, attempts: 1_000, ticks: 1_001 },
    ]);
    expect(record.steps.map(({ result }: any) => result)).toEqual(upTo(1, 1_000));
    expect(codeOf(await home.untilOver(more))).toEqual(["failed", "too_many_steps"]);
  });
});
