import { describe, expect, onTestFinished, test } from "vitest";
import { StepFailure } from "#services/workflows/tick.ts";
import { stepId } from "#events/ids.ts";
import { listenTo, type ListenOptions, type ReceivedEvent } from "./runEvents.ts";
import { SOON, UNKNOWN, code, gate, isOver, openFunctions } from "./harness.ts";

let slow = gate();
const stage = await openFunctions({
  all: {
    run: async (ctx) => {
      const paid = await ctx.runStep("pay", { amount: 1 });
      await ctx.sleep(1);
      const { approved } = await ctx.awaitApproval("boss", { title: "Go?" });
      return { paid, approved };
    },
    steps: {
      pay: (_, { attempt }) => {
        if (attempt === 1) throw new StepFailure("step_error", "busy", { retry_after_ms: 1, logs: ["trying"] });
        return "paid";
      },
    },
  },
  many: {
    run: async (ctx, { many }) =>
      (
        await ctx.runStepMany(
          "count",
          Array.from({ length: many }, (_, n) => n),
          50,
        )
      ).length,
    steps: { count: (n) => n },
  },
  slow: { run: async (ctx) => ctx.runStep("slow"), steps: { slow: () => slow.opened.then(() => "late") } },
  wide: {
    run: async (ctx) =>
      (
        await ctx.runStepMany(
          "big",
          Array.from({ length: 40 }, (_, n) => n),
          10,
        )
      ).length,
    steps: { big: (n) => `${n}`.padEnd(60_000, "x") },
  },
});
const { home } = stage;

/** Receives events of a run of the stage. */
const listen = (run: string, options: ListenOptions = {}) => listenTo(home, run, { url: stage.url, ...options });
const names = (received: ReceivedEvent[]) => received.map(({ event }) => event);
const approve = async (run: string) => {
  const pending = async () => (await home.owner("GET", `/workflows/runs/${run}/approvals`)).body.data;
  await expect.poll(async () => (await pending()).length, SOON).toBe(1);
  const [{ id }] = await pending();
  await home.made(home.owner("POST", `/workflows/approvals/${id}/decision`, { decision: "approve" }));
  return id as string;
};

const ALL_EVENTS = [
  "run.created",
  "run.started",
  "step.scheduled",
  "step.started",
  "step.log",
  "step.retrying",
  "step.started",
  "step.completed",
  "timer.started",
  "timer.fired",
  "approval.requested",
  "approval.decided",
  "run.completed",
];

describe("the event stream of a run", () => {
  test("contains the events as they happen, and ends with the run", async () => {
    const run = await home.start(await stage.register("all"));
    const listening = listen(run);
    const approval_id = await approve(run);
    const received = await listening;
    expect(names(received)).toEqual(ALL_EVENTS);
    const { steps, result } = await home.until(run, isOver);
    const [step] = steps;
    expect(result).toEqual({ paid: "paid", approved: true });
    const dataOf = Object.fromEntries(received.map(({ event, data }) => [event, data]));
    const at = { run_id: run, at: expect.any(String) };
    const of = { ...at, step_id: stepId(run, step.key), step: "pay" };
    expect(dataOf["step.log"]).toEqual({ ...of, attempt: 1, logs: ["trying"] });
    expect(dataOf["step.retrying"]).toEqual({
      ...of,
      attempt: 1,
      code: "step_error",
      error: "busy",
      next_attempt_at: expect.any(String),
    });
    expect(dataOf["step.completed"]).toEqual({ ...of, attempt: 2, duration_ms: expect.any(Number), result: "paid" });
    expect(dataOf["approval.decided"]).toMatchObject({
      approval_id,
      decision: "approve",
      decided_by: { type: "person" },
    });
    expect(dataOf["run.completed"]).toEqual({ ...at, completion: "implicit", result });
    const ids = received.flatMap(({ id }) => id ?? []);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(ids.at(-1)).toBe((await stage.events(run)).length);
  });

  test("can be read again from the start or after any event, from every process", async () => {
    const run = await home.start(await stage.register("all"));
    await approve(run);
    await home.until(run, isOver);
    const twin = await stage.twin();
    const whole = await listen(run);
    expect(names(whole)).toEqual(ALL_EVENTS);
    for (const [n, { id }] of whole.entries()) {
      if (id === undefined) continue;
      expect(await listen(run, { after: id, url: n % 2 ? twin : stage.url })).toEqual(whole.slice(n + 1));
    }
    expect(await listen(run, { after: 9_999 })).toEqual([]);
  });

  test("resumes repeatedly where a reader left", async () => {
    const workflow = await stage.register("many", { envelope: { limits: { max_parallel: 5 } } });
    const run = await home.start(workflow, { many: 60 });
    const received: ReceivedEvent[] = [];
    const twin = await stage.twin();
    for (let turn = 0; received.at(-1)?.event !== "run.completed"; turn++) {
      const after = received.findLast(({ id }) => id !== undefined)?.id;
      const more = await listen(run, {
        ...(after !== undefined && { after }),
        enough: (events) => events.length >= 15,
        url: turn % 2 ? twin : stage.url,
      });
      // frames after the last id are sent again
      const kept = received.findLastIndex(({ id }) => id !== undefined) + 1;
      received.splice(kept, received.length, ...more);
      expect(turn).toBeLessThan(100);
    }
    expect(received).toEqual(await listen(run));
    const count = (event: string) => received.filter((each) => each.event === event).length;
    expect([count("step.scheduled"), count("step.started"), count("step.completed")]).toEqual([60, 60, 60]);
  });

  test("of a cancelled run ends with the steps that were still running", async () => {
    slow = gate();
    onTestFinished(slow.open);
    const run = await home.start(await stage.register("slow"));
    const received: ReceivedEvent[] = [];
    const listening = listen(run, {
      enough: (events) => {
        received.splice(0, received.length, ...events);
        return false;
      },
    });
    await expect.poll(() => names(received), SOON).toContain("step.started");
    await home.made(home.owner("POST", `/workflows/runs/${run}/cancel`));
    await expect.poll(() => names(received), SOON).toContain("run.cancelled");
    slow.open();
    expect(names(await listening).slice(-2)).toEqual(["run.cancelled", "step.completed"]);
  });

  test("reaches a slow reader completely, however long the run is", async () => {
    const run = await home.start(await stage.register("wide"));
    await home.until(run, isOver);
    const received = await listen(run);
    const results = received.filter(({ event }) => event === "step.completed").map(({ data }) => data.result.length);
    expect(results).toEqual(Array(40).fill(60_000));
    expect(received.at(-1)!.event).toBe("run.completed");
  });

  test("is refused to callers who cannot read the run", async () => {
    const run = await home.start(await stage.register("many"), { many: 1 });
    await home.until(run, isOver);
    const other = await stage.join("Other");
    const unknown = await other.owner("GET", `/workflows/runs/${UNKNOWN}/events`);
    expect(code(unknown)).toEqual([404, "run_not_found"]);
    expect((await other.owner("GET", `/workflows/runs/${run}/events`)).text).toBe(unknown.text);
    expect((await home.key("GET", `/workflows/runs/${run}/events`)).text).toBe(
      (await home.owner("GET", `/workflows/runs/${run}/events`)).text,
    );
    for (const id of ["x", "-1", "1.5", "1e3"]) {
      const { status, body } = await home.owner("GET", `/workflows/runs/${run}/events`, undefined, {
        "last-event-id": id,
      });
      expect([status, body.error.param]).toEqual([400, "Last-Event-ID"]);
    }
  });
});
