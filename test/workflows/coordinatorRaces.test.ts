import { describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { PlainWorkflow } from "../doubles/plainRunner.ts";
import { SOON, namedGates, openCoordinators, record, resultOf, typesOf } from "./harness.ts";

/* Commands of other processes that reach a run in the middle of a tick, or after its coordinator was taken for lost. */

const gate = namedGates();
const came = new Set<string>();
const wait = async (name: string): Promise<void> => {
  came.add(name);
  await gate(name).opened;
};
const until = (name: string) => expect.poll(() => came.has(name), SOON).toBe(true);

const workflows: Record<string, PlainWorkflow> = {
  both: {
    async run(ctx) {
      const [a, b] = await Promise.all([ctx.awaitApproval("first"), ctx.awaitApproval("second")]);
      return ctx.complete([a.approved, b.approved]);
    },
  },
  beside: {
    async run(ctx, { id }) {
      const asks = async () => {
        await ctx.awaitApproval("meanwhile");
        return ctx.runStep("say", {});
      };
      return ctx.complete(await Promise.all([ctx.runStep("long", { id }), ctx.runStep("quick", { id }), asks()]));
    },
    steps: {
      async long({ id }) {
        await wait(`long ${id}`);
        return "long";
      },
      async quick({ id }) {
        await wait(`quick ${id}`);
        return "quick";
      },
      say: () => "said",
    },
  },
  attempts: {
    async run(ctx, { id }) {
      const attempt = await ctx.runStep("wait", { id });
      await ctx.awaitApproval("go on");
      return ctx.complete(attempt);
    },
    steps: {
      async wait({ id }, { attempt, host }) {
        await record({ host });
        await wait(`${attempt} ${id}`);
        return attempt;
      },
    },
  },
};

/** Runs of which no result goes to the log until the test lets it. */
const held = new Set<string>();
// the result of a tick depends only on its input, however long it takes
const bench = await openCoordinators(workflows, {
  count: 2,
  change: ({ runner, send }) => ({
    async send(target, type, data) {
      const told = JSON.stringify(data);
      if (type === "AdvanceRun" && held.has(target.stream) && told.includes("step_completed"))
        await wait(`sent ${target.stream}`);
      return send(target, type, data);
    },
    runner: {
      ...runner,
      async tick(call) {
        const outcome = await runner.tick({ ...call, memo: [...call.memo] });
        const [{ value }, ...more] = call.memo.length > 0 ? call.memo : [{ value: { json: "" } }];
        const known = more.length === 0 && "json" in value ? value.json : "";
        const at = { both: "approval_id", beside: '"quick"' }[call.js];
        if (at && known.includes(at)) await wait(`tick ${call.run_id}`);
        return outcome;
      },
    },
  }),
});

const approvalsOf = async (run: string) =>
  (await bench.events(run))
    .filter(({ type }) => type === "ApprovalRequested")
    .map(({ data }) => (data as { approval_id: string }).approval_id);

describe("a decision in the middle of a tick", () => {
  test("is not undone by a result of the tick that did not know it", async () => {
    const [{ handle }] = bench.all as [(typeof bench.all)[0]];
    const run = await bench.start("both");
    await bench.pending(run);
    const [first, second] = (await approvalsOf(run)) as [string, string];
    await bench.decide(handle, run, first);
    await until(`tick ${run}`);
    await bench.decide(handle, run, second, "reject");
    gate(`tick ${run}`).open();
    const events = await bench.until(run, "RunCompleted");
    expect(resultOf(events)).toEqual([true, false]);
    expect(await approvalsOf(run)).toEqual([first, second]);
  });
  test("is seen at once, even while a step runs", async () => {
    const id = newId();
    const [{ handle }] = bench.all as [(typeof bench.all)[0]];
    const run = await bench.start("beside", { id });
    const approval = await bench.pending(run);
    await until(`quick ${id}`);
    gate(`quick ${id}`).open();
    await until(`tick ${run}`);
    await bench.decide(handle, run, approval);
    gate(`tick ${run}`).open();
    await expect
      .poll(async () => typesOf(await bench.events(run)).filter((type) => type === "StepCompleted").length, SOON)
      .toBe(2);
    gate(`long ${id}`).open();
    expect(resultOf(await bench.until(run, "RunCompleted"))).toEqual(["long", "quick", "said"]);
  });
});

describe("a result that comes too late", () => {
  /** A run that is taken for lost while its process records the first attempt's result. */
  async function overtaken() {
    const id = newId();
    const [first, second] = bench.all as [(typeof bench.all)[0], (typeof bench.all)[0]];
    const run = await bench.start("attempts", { id }, { by: first.handle });
    const stream = `run-${run}`;
    held.add(stream);
    await until(`1 ${id}`);
    gate(`1 ${id}`).open();
    await until(`sent ${stream}`);
    await bench.send(second.handle, run, "TakeRun", { epoch: 1, worker: second.resources.worker, lost: true });
    await until(`2 ${id}`);
    gate(`sent ${stream}`).open();
    held.delete(stream);
    await expect.poll(() => first.runs.busy(), SOON).not.toContain(stream);
    return { id, run, first, second };
  }

  test("is not used if the process has already started the step again", async () => {
    const { id, run, first } = await overtaken();
    gate(`2 ${id}`).open();
    await bench.decide(first.handle, run, await bench.pending(run));
    expect(resultOf(await bench.until(run, "RunCompleted"))).toBe(2);
  });
  test("is not mistaken for a result before there is one", async () => {
    const { id, run, first } = await overtaken();
    await bench.send(first.handle, run, "TakeRun", { epoch: 2, worker: first.resources.worker, lost: true });
    await until(`3 ${id}`);
    expect(typesOf(await bench.events(run))).not.toContain("ApprovalRequested");
    gate(`3 ${id}`).open();
    await bench.decide(first.handle, run, await bench.pending(run));
    expect(resultOf(await bench.until(run, "RunCompleted"))).toBe(3);
    gate(`2 ${id}`).open();
  });
});
