import { expect, test } from "vitest";
import { openCoordinators, resultOf, SOON, typesOf } from "./harness.ts";

/* Runs that wait for others, on two processes without reactions: the sweep alone answers the waits. */

const c = await openCoordinators(
  {
    asks: { run: async (ctx) => ctx.complete(await ctx.awaitApproval("go")) },
    waits: { run: async (ctx, { run }) => ctx.complete(await ctx.waitForRun(run)) },
  },
  { count: 2 },
);

const registered = async (run: string) =>
  expect.poll(async () => typesOf(await c.events(run)), SOON).toContain("RunWaitRegistered");

test("the sweep repairs a lost wake-up once, whichever of two processes sweeps", async () => {
  const [first, second] = c.all;
  const awaited = await c.start("asks", {}, { by: second!.handle });
  const waits = await Promise.all(Array.from({ length: 5 }, () => c.start("waits", { run: awaited })));
  for (const run of waits) await registered(run);
  await c.decide(second!.handle, awaited, await c.pending(awaited));
  await c.until(awaited, "RunCompleted");
  await Promise.all([first!.sweep.once(), second!.sweep.once(), first!.sweep.once(), second!.sweep.once()]);
  for (const run of waits) {
    const events = await c.until(run, "RunCompleted");
    expect(typesOf(events).filter((type) => type === "WaitAnswered")).toHaveLength(1);
    expect(resultOf(events)).toMatchObject({ run_id: awaited, status: "completed", result: { approved: true } });
  }
  expect(typesOf(await c.events(awaited)).filter((type) => type === "RunSettled")).toHaveLength(1);
  await Promise.all([first!.sweep.once(), second!.sweep.once()]);
  expect(typesOf(await c.events(awaited)).at(-1)).toBe("RunSettled");
});
