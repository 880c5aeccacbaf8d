import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import type { RunEvent } from "#events/run.ts";
import { run as decider } from "#services/deciders/run.ts";
import { isRunning } from "#services/deciders/runState.ts";
import { readState } from "#services/states.ts";
import { StepFailure } from "#services/workflows/tick.ts";
import type { PlainWorkflow } from "../doubles/plainRunner.ts";
import { SOON, counters, openCoordinators, record, resultOf, typesOf } from "./harness.ts";

/* Results of a run are noted first and recorded a moment later. These tests interrupt a run in between. */

const STEPS = 400;
const { counted, count } = counters();

/** Steps without external effects, one after the other. */
async function line(ctx: Parameters<PlainWorkflow["run"]>[0], id: string, steps = STEPS): Promise<number> {
  let sum = 0;
  for (let n = 1; n <= steps; n++) sum = await ctx.runStep("add", { id, n, sum });
  return sum;
}
const add = ({ id, n, sum }: { id: string; n: number; sum: number }): number => {
  count(`added ${id}`);
  return sum + n;
};
const SUM = (STEPS * (STEPS + 1)) / 2;

const workflows: Record<string, PlainWorkflow> = {
  line: { run: async (ctx, { id }) => ctx.complete(await line(ctx, id)), steps: { add } },
  paced: {
    run: async (ctx, { id }) => ctx.complete(await line(ctx, id, 60)),
    steps: {
      async add(given) {
        await sleep(2);
        return add(given);
      },
    },
  },
  /** Every tenth step does something that others see. */
  mixed: {
    async run(ctx, { id }) {
      let sum = 0;
      for (let n = 1; n <= 60; n++) sum = await ctx.runStep(n % 10 === 0 ? "show" : "add", { id, n, sum });
      return ctx.complete(sum);
    },
    steps: {
      add,
      async show({ id, n, sum }, ctx) {
        await record(ctx);
        count(`shown ${id} ${n}`);
        return sum + n;
      },
    },
  },
  beside: {
    async run(ctx, { id }) {
      const asked = ctx.awaitApproval("boss");
      // its signal is that of the whole, unless the steps wait for something themselves
      asked.catch(() => {});
      const sum = await line(ctx, id, 200);
      return ctx.complete({ approved: (await asked).approved, sum });
    },
    steps: {
      async add(given) {
        await sleep(1);
        return add(given);
      },
    },
  },
  once: {
    run: async (ctx, { id }) => ctx.complete(await ctx.runStep("show", { id })),
    steps: {
      async show({ id }, ctx) {
        await record(ctx);
        const times = count(`shown ${id}`);
        await sleep(100);
        return times;
      },
    },
  },
};

/** Faults of the next commits of runs, by stream: the command is lost, or only its answer. */
const wrong = new Map<string, ("lost" | "answer lost")[]>();
/** How often the streams of runs cannot be read. */
const unreadable = new Map<string, number>();
/** Runs whose appends the log refuses. */
const refused = new Set<string>();
// as services/workflows/host/permissions.ts
const bench = await openCoordinators(workflows, {
  count: 3,
  change: ({ send, log, openHost }) => ({
    async send(target, type, data) {
      const how = type === "AdvanceRun" ? wrong.get(target.stream)?.shift() : undefined;
      if (type === "AdvanceRun" && refused.has(target.stream)) throw new Error("This cannot be written.");
      if (how !== "lost") {
        const answer = await send(target, type, data);
        if (!how) return answer;
      }
      throw new Unavailable("The database is away.");
    },
    log: {
      ...log,
      read(stream, from) {
        const times = unreadable.get(stream) ?? 0;
        unreadable.set(stream, times - 1);
        return times > 0 ? Promise.reject(new Unavailable("The database is away.")) : log.read(stream, from);
      },
    },
    openHost(step) {
      const opened = openHost(step);
      const secret = async (): Promise<string> => {
        await step.ensureRecorded();
        const stream = streamName("run", step.run_id);
        const head = (await log.heads([stream])).get(stream);
        const state = head ? (await readState(log, head, decider)).state : decider.initial;
        if (isRunning(state, step.key, step.attempt, step)) return "";
        throw new StepFailure("runner_lost", "This attempt is not the current one.");
      };
      return { ...opened, host: { ...opened.host, secret } };
    },
  }),
});

const keysOf = (events: RecordedEvent<RunEvent>[], type: RunEvent["type"]): string[] =>
  events.flatMap((event) => (event.type === type ? [(event.data as { key: string }).key] : []));
/** Each step is scheduled, begun and completed once, in that order, and one after the other. */
function expectOnce(events: RecordedEvent<RunEvent>[], steps: number): void {
  const ofSteps = typesOf(events).filter((type) => type.startsWith("Step"));
  expect(ofSteps).toEqual(
    Array.from({ length: steps }, () => ["StepsScheduled", "StepStarted", "StepCompleted"]).flat(),
  );
  expect(new Set(keysOf(events, "StepCompleted")).size).toBe(steps);
  expect(keysOf(events, "StepStarted")).toEqual(keysOf(events, "StepCompleted"));
}

test("a long run of steps without external effects is recorded completely, in few commits", async () => {
  const id = newId();
  const events = await bench.until(await bench.start("line", { id }), "RunCompleted");
  expect(resultOf(events)).toBe(SUM);
  expectOnce(events, STEPS);
  expect(counted.get(`added ${id}`)).toBe(STEPS);
  expect(new Set(events.map(({ command_id }) => command_id)).size).toBeLessThan(STEPS);
});

describe("a commit that fails or has an unknown outcome", () => {
  test.each<["lost" | "answer lost", number]>([
    ["lost", 0],
    ["answer lost", 0],
    ["lost", 2],
    ["answer lost", 2],
  ])("neither stops nor doubles a run (%s, and the log cannot be read %i times)", async (how, times) => {
    const ids = Array.from({ length: 4 }, newId);
    const runs = await Promise.all(
      ids.map(async (id, n) => {
        const run_id = await bench.start("mixed", { id });
        wrong.set(streamName("run", run_id), Array(n + 1).fill(how));
        unreadable.set(streamName("run", run_id), times);
        return run_id;
      }),
    );
    for (const [n, run] of runs.entries()) {
      const events = await bench.until(run, "RunCompleted");
      expect(resultOf(events)).toBe(1_830);
      expectOnce(events, 60);
      // what others see is done once: it waited for its start to be on record
      for (let step = 10; step <= 60; step += 10) expect(counted.get(`shown ${ids[n]} ${step}`)).toBe(1);
      expect(wrong.get(streamName("run", run))).toEqual([]);
    }
  });
});

test("a run whose append the log refuses is released, and the sweep takes it over", async () => {
  const id = newId();
  const run = await bench.start("paced", { id });
  const stream = streamName("run", run);
  const [first] = bench.all;
  refused.add(stream);
  await expect.poll(() => first!.runs.busy(), SOON).not.toContain(stream);
  const told = first!.errors.filter((error) => (error as Error).message === "This cannot be written.");
  expect(told).toHaveLength(1);
  refused.delete(stream);
  first!.sweep.start();
  const events = await bench.until(run, "RunCompleted");
  await first!.sweep.stop();
  expect(resultOf(events)).toBe(1_830);
  expect(new Set(keysOf(events, "StepCompleted")).size).toBe(60);
  expect(typesOf(events)).toContain("RunTaken");
});

describe("a cancellation in the middle of a long run", () => {
  test.each([[0], [1]])("by process %i ends it soon, and nothing is recorded afterwards", async (by) => {
    const id = newId();
    const run = await bench.start("beside", { id });
    await expect.poll(() => counted.get(`added ${id}`) ?? 0, SOON).toBeGreaterThan(10);
    expect((await bench.cancel(bench.all[by]!.handle, run)).rejection).toBeUndefined();
    const begun = counted.get(`added ${id}`)!;
    await sleep(700);
    const events = await bench.events(run);
    const cancelled = typesOf(events).indexOf("RunCancelled");
    // an attempt that had begun may end after it
    expect(typesOf(events).slice(cancelled + 1)).toEqual(expect.toBeOneOf([[], ["StepCompleted"]]));
    // its own process reported it, or it learned it with its next commit
    expect(counted.get(`added ${id}`)! - begun).toBeLessThan(60);
    const completed = keysOf(events, "StepCompleted");
    expect(new Set(completed).size).toBe(completed.length);
  });
});

describe("a decision beside steps without external effects", () => {
  test.each([[0], [1]])("by process %i takes effect, and nothing is doubled", async (by) => {
    const ids = Array.from({ length: 3 }, newId);
    const runs = await Promise.all(ids.map((id) => bench.start("beside", { id })));
    for (const [n, run] of runs.entries()) {
      const approval = await bench.pending(run);
      await expect.poll(() => counted.get(`added ${ids[n]}`) ?? 0, SOON).toBeGreaterThan(5 * (n + 1));
      expect((await bench.decide(bench.all[by]!.handle, run, approval)).rejection).toBeUndefined();
    }
    for (const run of runs) {
      const events = await bench.until(run, "RunCompleted");
      expect(resultOf(events)).toEqual({ approved: true, sum: 20_100 });
      expectOnce(events, 200);
      expect(keysOf(events, "ApprovalRequested")).toHaveLength(1);
      expect(typesOf(events)).not.toContain("ApprovalCancelled");
    }
  });
});

test("a run whose creation reaches two processes takes effect once", async () => {
  const ids = Array.from({ length: 20 }, newId);
  const [first, second] = bench.all;
  const runs = await Promise.all(
    ids.map((id) =>
      bench.start(
        "once",
        { id },
        {
          by: async (command) => (await Promise.all([first!.handle(command), second!.handle(command)]))[0],
        },
      ),
    ),
  );
  for (const [n, run] of runs.entries()) {
    const events = await bench.until(run, "RunCompleted");
    expectOnce(events, 1);
    expect([resultOf(events), counted.get(`shown ${ids[n]}`)]).toEqual([1, 1]);
  }
});

test("a stopping process records everything that it has buffered, and starts nothing more", async () => {
  const ids = Array.from({ length: 3 }, newId);
  const [, , third] = bench.all;
  const runs = await Promise.all(ids.map((id) => bench.start("paced", { id }, { by: third!.handle })));
  for (const id of ids) await expect.poll(() => counted.get(`added ${id}`) ?? 0, SOON).toBeGreaterThan(5);
  await third!.runs.stop();
  for (const [n, run] of runs.entries()) {
    const done = keysOf(await bench.events(run), "StepCompleted").length;
    expect(counted.get(`added ${ids[n]}`)).toBe(done);
    expect(done).toBeLessThan(60);
  }
  await third!.stop();
  // another takes them over once it is known that this one is gone
  const [first] = bench.all;
  first!.sweep.start();
  for (const [n, run] of runs.entries()) {
    const events = await bench.until(run, "RunCompleted");
    expect(resultOf(events)).toBe(1_830);
    expect(new Set(keysOf(events, "StepCompleted")).size).toBe(60);
    expect(counted.get(`added ${ids[n]}`)).toBe(60);
  }
  await first!.sweep.stop();
});
