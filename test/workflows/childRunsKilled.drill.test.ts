import { expect, test } from "vitest";
import { SOON, workflowSource } from "./harness.ts";
import { startWithoutServices } from "./withoutServices.ts";

/* A process is killed at each point between the call that starts a child run and the answer of its end. */

const LONG_MS = SOON.timeout * 4;
const { home, prepared, count, replaceAt } = await startWithoutServices(async (tenant) => {
  const child = await tenant.register(workflowSource("await ctx.sleep(200);\nreturn args.n;"));
  const waits = "return ctx.waitForRun(await ctx.startRun(args.workflow, { n: args.n }));";
  return { child, parent: await tenant.register(workflowSource(waits)) };
});

/** The second run that is created is the child run; its end is the first RunCompleted. */
const POINTS = [
  "before-RunCreated:2",
  "after-RunCreated:2",
  "before-ChildRunStarted:1",
  "after-ChildRunStarted:1",
  "after-RunWaitRegistered:1",
  "before-RunCompleted:1",
  "after-RunCompleted:1",
  "before-WaitAnswered:1",
  "after-WaitAnswered:1",
  "before-RunSettled:1",
];

test.each(POINTS.map((point, n) => [point, n + 1] as const))(
  "a run gets the result of its child run once if its process is killed at %s",
  async (point, n) => {
    const run = await replaceAt(point, () => home.start(prepared.parent, { workflow: prepared.child.id, n }));
    const { status, result } = await home.untilOver(run, LONG_MS);
    expect([status, result.status, result.result]).toEqual(["completed", "completed", n]);
    await expect.poll(() => count("RunSettled"), { ...SOON, timeout: LONG_MS }).toBe(n);
    const counts = await Promise.all(["RunCreated", "RunCompleted", "ChildRunStarted", "WaitAnswered"].map(count));
    expect(counts).toEqual([2 * n, 2 * n, n, n]);
  },
);
