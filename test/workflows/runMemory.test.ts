import { beforeAll, expect, test } from "vitest";
import { createRunMemory, type RunMemory } from "#services/workflows/runMemory.ts";
import type { PlainWorkflow } from "../doubles/plainRunner.ts";
import { counters, namedGates, openCoordinators, resultOf, SOON, type Coordinators } from "./harness.ts";

/* Runs whose results do not fit into the memory of their organization take turns: each is dropped and read again, and all complete. */

/** The share of an organization is 250 KB, in UTF-16 units half of that. */
const SHARE_BYTES = 250_000;
const memory: RunMemory = createRunMemory(1);
const { counted, count } = counters();
const gate = namedGates();

const workflows: Record<string, PlainWorkflow> = {
  grows: {
    async run(ctx, { id, steps, length }) {
      let total = 0;
      for (let n = 0; n < steps; n++) total += (await ctx.runStep("write", { id, n, length })).length;
      return ctx.complete(total);
    },
    steps: {
      write({ id, n, length }) {
        count(`${id} ${n}`);
        largest = Math.max(largest, memory.usage().bytes);
        return "x".repeat(length);
      },
    },
  },
  holds: {
    async run(ctx, { id }) {
      const text = await ctx.runStep("write");
      return ctx.complete(text.length + (await ctx.runStep("wait", { id })));
    },
    steps: {
      write: () => "x".repeat(100_000),
      async wait({ id }) {
        count(id);
        await gate(id).opened;
        return 1;
      },
    },
  },
  asks: {
    async run(ctx) {
      const text = await ctx.runStep("write");
      const { approved } = await ctx.awaitApproval("Go?");
      return ctx.complete([text.length, approved]);
    },
    steps: { write: () => "x".repeat(100_000) },
  },
};
let largest = 0;
let bench: Coordinators;
beforeAll(async () => {
  bench = await openCoordinators(workflows, { change: () => ({ runMemory: memory }) });
});
const completed = async (run: string) => resultOf(await bench.until(run, "RunCompleted"));

test("runs that together hold ten times their share complete, and no step of theirs runs twice", async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `grows ${n}`);
  const runs = await Promise.all(ids.map((id) => bench.start("grows", { id, steps: 6, length: 20_000 })));
  for (const run of runs) expect(await completed(run)).toBe(120_000);
  for (const id of ids) for (let n = 0; n < 6; n++) expect(counted.get(`${id} ${n}`)).toBe(1);
  expect(largest).toBeGreaterThan(SHARE_BYTES / 2);
  expect(largest).toBeLessThanOrEqual(SHARE_BYTES);
  expect(memory.usage()).toEqual({ bytes: 0, waiting: 0 });
  expect(bench.all[0]!.errors).toEqual([]);
}, 120_000);

test("runs that are larger than the share run one after the other", async () => {
  const runs = await Promise.all(
    [0, 1, 2].map((n) => bench.start("grows", { id: `huge ${n}`, steps: 4, length: 90_000 })),
  );
  for (const run of runs) expect(await completed(run)).toBe(360_000);
  expect(memory.usage()).toEqual({ bytes: 0, waiting: 0 });
}, 120_000);

test("while a large run waits for one that holds the share, small ones run, and it is cancelled or ends later", async () => {
  const holder = await bench.start("holds", { id: "holder" });
  await expect.poll(() => counted.get("holder"), SOON).toBe(1);
  const waiting = await Promise.all([1, 2].map((n) => bench.start("holds", { id: `waiting ${n}` })));
  await expect.poll(() => memory.usage().waiting, SOON).toBe(2);
  const small = await bench.start("grows", { id: "small", steps: 3, length: 10 });
  expect(await completed(small)).toBe(30);
  expect(await bench.cancel(bench.all[0]!.handle, waiting[0]!)).toMatchObject({ repeated: false });
  await bench.until(waiting[0]!, "RunCancelled");
  gate("holder").open();
  gate("waiting 2").open();
  expect(await completed(holder)).toBe(100_001);
  expect(await completed(waiting[1]!)).toBe(100_001);
  await expect.poll(() => memory.usage(), SOON).toEqual({ bytes: 0, waiting: 0 });
}, 120_000);

test("a decision of a parked run that has no room takes effect, and the run resumes when it has", async () => {
  const parked = await bench.start("asks");
  const approval = await bench.pending(parked);
  const holder = await bench.start("holds", { id: "second holder" });
  await expect.poll(() => counted.get("second holder"), SOON).toBe(1);
  const { rejection } = await bench.decide(bench.all[0]!.handle, parked, approval);
  expect(rejection).toBeUndefined();
  await expect.poll(() => memory.usage().waiting, SOON).toBe(1);
  gate("second holder").open();
  expect(await completed(parked)).toEqual([100_000, true]);
  expect(await completed(holder)).toBe(100_001);
}, 120_000);

test("a run that waits for room when its process stops is taken over, and completes elsewhere", async () => {
  const { all, start, until } = await openCoordinators(workflows, {
    count: 2,
    change: () => ({ runMemory: memory }),
  });
  const [staying, leaving] = all as [(typeof all)[0], (typeof all)[0]];
  const holder = await start("holds", { id: "last holder" }, { by: leaving.handle });
  await expect.poll(() => counted.get("last holder"), SOON).toBe(1);
  const waiting = await start("grows", { id: "left behind", steps: 4, length: 50_000 }, { by: leaving.handle });
  await expect.poll(() => memory.usage().waiting, SOON).toBe(1);
  const stopped = leaving.runs.stop();
  gate("last holder").open();
  await stopped;
  expect(memory.usage()).toEqual({ bytes: 0, waiting: 0 });
  await leaving.stop();
  staying.sweep.start();
  expect(resultOf(await until(waiting, "RunCompleted"))).toBe(200_000);
  await until(holder, "RunCompleted");
  await staying.sweep.stop();
  for (let n = 0; n < 4; n++) expect(counted.get(`left behind ${n}`)).toBe(1);
}, 120_000);
