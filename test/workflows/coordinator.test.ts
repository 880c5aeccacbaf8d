import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { StepFailure, TickLost } from "#services/workflows/tick.ts";
import type { PlainWorkflow } from "../doubles/plainRunner.ts";
import { SOON, counters, namedGates, openCoordinators, record, resultOf, typesOf } from "./harness.ts";

/* The coordinator on the real log. Workflows are functions of the test, so that it can look into them. */

const { counted, count } = counters();
const hold = namedGates();

const workflows: Record<string, PlainWorkflow> = {
  nothing: { run: async () => "done" },
  one: { run: async (ctx, args) => ctx.complete(await ctx.runStep("add", args)), steps: { add: ({ a, b }) => a + b } },
  late: {
    async run(ctx, { id, ms, ...args }) {
      if (count(id) === 1) await sleep(ms);
      return ctx.complete(await ctx.runStep("add", args));
    },
    steps: { add: ({ a, b }) => a + b },
  },
  chain: {
    async run(ctx, { n, uses }) {
      let sum = 0;
      for (let i = 0; i < n; i++) sum = await ctx.runStep("next", { i, sum, uses });
      return ctx.complete(sum);
    },
    steps: {
      async next({ i, sum, uses }, { host }) {
        if (uses) await record({ host });
        count(`next ${uses} ${i}`);
        return sum + i;
      },
    },
  },
  many: {
    run: async (ctx, { items, wide }) => ctx.complete(await ctx.runStepMany("square", items, wide)),
    steps: {
      async square(n) {
        const at = count("square now");
        counted.set("square most", Math.max(at, counted.get("square most") ?? 0));
        await sleep(5);
        counted.set("square now", counted.get("square now")! - 1);
        return n * n;
      },
    },
  },
  flaky: {
    run: async (ctx, { id, times }) => ctx.complete(await ctx.runStep("try", { id, times })),
    steps: {
      try: ({ id, times }) => {
        if (count(id) < times) throw new StepFailure("step_error", "not yet", { retry_after_ms: 1 });
        return counted.get(id);
      },
    },
  },
  unlucky: {
    run: async (ctx, { id, times }) => ctx.complete(await ctx.runStep("try", { id, times })),
    steps: {
      try: ({ id, times }, { attempt }) => {
        if (count(id) <= times) throw new StepFailure("runner_lost", "gone");
        return attempt;
      },
    },
  },
  broken: { run: async () => Promise.reject(new Error("no such thing")) },
  hopeless: {
    run: async (ctx) => ctx.complete(await ctx.runStep("no", {})),
    steps: {
      no: () => {
        throw new StepFailure("step_error", "never", { final: true });
      },
    },
  },
  approved: {
    async run(ctx, { name = "boss" }) {
      const answer = await ctx.awaitApproval(name);
      return ctx.complete({ answer: answer.approved, after: await ctx.runStep("say", answer.status) });
    },
    steps: { say: (text) => `it is ${text}` },
  },
  both: {
    async run(ctx) {
      const [a, b] = await Promise.all([ctx.awaitApproval("first"), ctx.awaitApproval("second")]);
      return ctx.complete([a.approved, b.approved]);
    },
  },
  naps: {
    async run(ctx, { ms }) {
      await ctx.sleep(ms);
      return ctx.complete(await ctx.runStep("wake", {}));
    },
    steps: { wake: () => "up" },
  },
  aside: {
    async run(ctx, { id }) {
      const asks = async () => {
        await ctx.awaitApproval("meanwhile");
        return ctx.runStep("say", {});
      };
      return ctx.complete(await Promise.all([ctx.runStep("wait", { id }), asks()]));
    },
    steps: {
      async wait({ id }, { attempt, host }) {
        await record({ host });
        await hold(id).opened;
        return attempt;
      },
      say: () => "said",
    },
  },
  slow: {
    run: async (ctx, { id }) => ctx.complete(await ctx.runStep("wait", { id })),
    steps: {
      async wait({ id }, { attempt, host }) {
        await record({ host });
        count(`began ${id}`);
        await hold(id).opened;
        return attempt;
      },
    },
  },
};

const bench = await openCoordinators(workflows, { count: 2 });

const commitsOf = (events: { command_id: string }[]): number =>
  new Set(events.map(({ command_id }) => command_id)).size;

describe("a run", () => {
  test("of one step without external effects is one commit, with its creation", async () => {
    const id = await bench.start("one", { a: 2, b: 3 });
    const events = await bench.until(id, "RunCompleted");
    expect(typesOf(events)).toEqual([
      "RunCreated",
      "RunStarted",
      "StepsScheduled",
      "StepStarted",
      "StepCompleted",
      "RunCompleted",
    ]);
    expect(resultOf(events)).toBe(5);
    expect(commitsOf(events)).toBe(1);
  });
  test.each([
    ["100 ms is one commit", 100, 1],
    ["longer than a quarter of a second is created in an earlier commit", 400, 2],
  ])("whose first tick takes %s", async (_, ms, commits) => {
    const events = await bench.until(await bench.start("late", { id: newId(), ms, a: 2, b: 3 }), "RunCompleted");
    expect([resultOf(events), commitsOf(events)]).toEqual([5, commits]);
  });
  test("that returns without complete() ends with the returned value", async () => {
    const events = await bench.until(await bench.start("nothing"), "RunCompleted");
    expect(resultOf(events)).toBe("done");
    expect(events.at(-1)!.data).toMatchObject({ completion: "implicit" });
  });
  test("that throws fails with the thrown error", async () => {
    const events = await bench.until(await bench.start("broken"), "RunFailed");
    expect(events.at(-1)).toMatchObject({
      data: { code: "run_error" },
      personal: { error: { message: "no such thing" } },
    });
  });
  test("records each step that uses the platform before its execution, the first with the run's creation", async () => {
    const events = await bench.until(await bench.start("chain", { n: 20, uses: true }), "RunCompleted");
    expect(resultOf(events)).toBe(190);
    expect(commitsOf(events)).toBe(21);
    expect(counted.get("next true 7")).toBe(1);
  });
  test("of a hundred steps without external effects takes a few commits, and each step is executed once", async () => {
    const events = await bench.until(await bench.start("chain", { n: 100, uses: false }), "RunCompleted");
    expect(resultOf(events)).toBe(4950);
    expect(events.filter(({ type }) => type === "StepCompleted")).toHaveLength(100);
    expect(commitsOf(events)).toBeLessThan(50);
    for (let i = 0; i < 100; i++) expect(counted.get(`next false ${i}`)).toBe(1);
  });
  test("of many items executes the configured number at once, and answers once in their order", async () => {
    const items = Array.from({ length: 60 }, (_, n) => n);
    const events = await bench.until(
      await bench.start("many", { items, wide: 7 }, { envelope: { limits: { max_parallel: 50 } as never } }),
      "RunCompleted",
    );
    expect(resultOf(events)).toEqual(items.map((n) => n * n));
    expect(counted.get("square most")).toBe(7);
    expect(events.filter(({ type }) => type === "StepsScheduled")).toHaveLength(1);
  });
});

describe("a step", () => {
  test("that fails is retried up to its limit", async () => {
    const events = await bench.until(await bench.start("flaky", { id: newId(), times: 3 }), "RunCompleted");
    expect(resultOf(events)).toBe(3);
    expect(events.filter(({ type }) => type === "StepAttemptFailed").map(({ data }) => (data as any).attempt)).toEqual([
      1, 2,
    ]);
  });
  test("whose runner is lost is repeated", async () => {
    const events = await bench.until(await bench.start("unlucky", { id: newId(), times: 2 }), "RunCompleted");
    expect(resultOf(events)).toBe(3);
  });
  test("that fails permanently fails the run with its reason", async () => {
    const events = await bench.until(await bench.start("hopeless"), "RunFailed");
    expect(events.at(-1)).toMatchObject({
      data: { code: "step_error", step: "no" },
      personal: { error: { message: "never" } },
    });
  });
});

describe("an approval", () => {
  test("leaves the run without a worker, and the process that commits the decision continues it", async () => {
    const [first, second] = bench.all;
    const id = await bench.start("approved", {}, { by: first!.handle });
    const approval = await bench.pending(id);
    await expect.poll(() => [...first!.runs.busy(), ...second!.runs.busy()].includes(`run-${id}`), SOON).toBe(false);
    const [head] = await first!.resources.db.query<{ status: string; worker: string | null }>(
      "select status, worker from log.streams where stream = $1",
      [`run-${id}`],
    );
    expect(head).toEqual({ status: "waiting", worker: null });
    expect((await bench.decide(second!.handle, id, approval, "reject")).rejection).toBeUndefined();
    const events = await bench.until(id, "RunCompleted");
    expect(resultOf(events)).toEqual({ answer: false, after: "it is rejected" });
    const [decided, started] = [
      events.find((e) => e.type === "ApprovalDecided"),
      events.findLast((e) => e.type === "StepStarted"),
    ];
    expect(decided!.data).toMatchObject({ epoch: 2, worker: second!.resources.worker });
    expect(started!.data).toMatchObject({ worker: second!.resources.worker });
    const after = events.slice(events.indexOf(decided!));
    expect([typesOf(after).at(-1), commitsOf(after)]).toEqual(["RunCompleted", 1]);
  });
  test("is decided once in a race of many", async () => {
    const id = await bench.start("approved");
    const approval = await bench.pending(id);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        bench.decide(bench.all[n % 2]!.handle, id, approval, n % 3 === 0 ? "approve" : "reject"),
      ),
    );
    expect(answers.filter(({ rejection }) => rejection === undefined)).toHaveLength(1);
    const events = await bench.until(id, "RunCompleted");
    expect(events.filter(({ type }) => type === "ApprovalDecided")).toHaveLength(1);
  });
  test("two concurrent ones are decided separately", async () => {
    const id = await bench.start("both");
    await bench.pending(id);
    const asked = (await bench.events(id)).filter(({ type }) => type === "ApprovalRequested");
    const ids = asked.map(({ data, personal }) => [(personal as any).name, (data as any).approval_id] as const);
    await bench.decide(bench.all[0]!.handle, id, Object.fromEntries(ids)["second"], "reject");
    await bench.decide(bench.all[1]!.handle, id, Object.fromEntries(ids)["first"], "approve");
    expect(resultOf(await bench.until(id, "RunCompleted"))).toEqual([true, false]);
  });
});

describe("a wait", () => {
  test("stays in this process if it is short", async () => {
    const events = await bench.until(await bench.start("naps", { ms: 50 }), "RunCompleted");
    expect(typesOf(events)).toEqual([
      "RunCreated",
      "RunStarted",
      "TimerStarted",
      "TimerFired",
      "RunTaken",
      "StepsScheduled",
      "StepStarted",
      "StepCompleted",
      "RunCompleted",
    ]);
  });
  test("leaves memory if it is long, and the sweep ignores it", async () => {
    const id = await bench.start("naps", { ms: 3_600_000 });
    await bench.until(id, "TimerStarted");
    await expect.poll(() => bench.all[0]!.runs.busy(), SOON).not.toContain(`run-${id}`);
    await bench.all[1]!.sweep.once();
    expect((await bench.events(id)).at(-1)!.type).toBe("TimerStarted");
  });
  test("is limited to the lifetime of a run", async () => {
    const events = await bench.until(await bench.start("naps", { ms: 3_600_000 }, { ttl_ms: 300 }), "RunFailed");
    expect(events.at(-1)!.data).toMatchObject({ code: "run_expired" });
  });
  test("for a person beside a running step sees another process's decision during the step", async () => {
    const id = newId();
    const run = await bench.start("aside", { id }, { by: bench.all[0]!.handle });
    const approval = await bench.pending(run);
    await bench.decide(bench.all[1]!.handle, run, approval);
    await expect.poll(async () => typesOf(await bench.events(run)), SOON).toContain("StepCompleted");
    hold(id).open();
    const events = await bench.until(run, "RunCompleted");
    expect(resultOf(events)).toEqual([1, "said"]);
    expect(events.some(({ type }) => type === "RunTaken")).toBe(false);
  });
});

describe("cancelling", () => {
  test("lets a running step end, records its result, and does nothing more", async () => {
    const id = newId();
    const run = await bench.start("slow", { id }, { by: bench.all[0]!.handle });
    await expect.poll(() => counted.get(`began ${id}`), SOON).toBe(1);
    expect((await bench.cancel(bench.all[1]!.handle, run)).rejection).toBeUndefined();
    hold(id).open();
    const events = await bench.until(run, "StepCompleted");
    expect(typesOf(events).slice(-3)).toEqual(["StepStarted", "RunCancelled", "StepCompleted"]);
    await expect.poll(() => bench.all[0]!.runs.busy(), SOON).not.toContain(`run-${run}`);
    expect(typesOf(await bench.events(run)).at(-1)).toBe("StepCompleted");
  });
});

describe("a worker that is lost", () => {
  test("before the first tick: the sweep starts the run elsewhere", async () => {
    const id = await bench.start("one", { a: 1, b: 1 }, { by: bench.deadHandler() });
    await bench.all[1]!.sweep.once();
    const events = await bench.until(id, "RunCompleted");
    expect(events[1]).toMatchObject({ type: "RunTaken", data: { epoch: 2, reason: "lost" } });
    expect(resultOf(events)).toBe(2);
  });
  test("in a step: the step is retried under the next epoch, and a late result of the first is refused", async () => {
    const id = newId();
    const [first, second] = bench.all;
    const run = await bench.start("slow", { id }, { by: first!.handle });
    await expect.poll(() => counted.get(`began ${id}`), SOON).toBe(1);
    // its heartbeat has stopped, and it does not know
    await bench.send(second!.handle, run, "TakeRun", { epoch: 1, worker: second!.resources.worker, lost: true });
    await expect.poll(() => counted.get(`began ${id}`), SOON).toBe(2);
    hold(id).open();
    const events = await bench.until(run, "RunCompleted");
    expect(typesOf(events).slice(3)).toEqual([
      "StepStarted",
      "StepAttemptLost",
      "RunTaken",
      "StepStarted",
      "StepCompleted",
      "RunCompleted",
    ]);
    expect(resultOf(events)).toBe(2);
  });
});

describe("a tick that crashes its process", () => {
  test("is given up after three crashes with a reason, and a successful tick resets the count", async () => {
    let breaks = 0;
    const poison = await openCoordinators(workflows, {
      change: ({ runner }) => ({
        runner: {
          ...runner,
          tick: async (call) => {
            if (call.js === "nothing" || (call.js === "one" && ++breaks < 3)) throw new TickLost("gone");
            return runner.tick(call);
          },
        },
      }),
    });
    const failed = await poison.until(await poison.start("nothing"), "RunFailed");
    expect(failed.at(-1)!.data).toMatchObject({ code: "tick_broken" });
    await poison.until(await poison.start("one", { a: 1, b: 2 }), "RunCompleted");
  });
});
