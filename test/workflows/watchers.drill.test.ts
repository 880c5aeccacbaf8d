import { expect, test } from "vitest";
import { openWorkflows, WAITING, workflowSource } from "./harness.ts";

const { home } = await openWorkflows();

test("runs that wait for another run in vain, and end, leave room for others that wait for it", async () => {
  const awaited = await home.start(await home.register(WAITING));
  const waits = await home.register(
    workflowSource("return (await ctx.waitForRun(args.run, { timeout: args.timeout })).status;"),
  );
  // a hundred may wait for a run
  for (let n = 0; n < 4; n++) {
    const started = Array.from({ length: 25 }, () => home.start(waits, { run: awaited, timeout: "1s" }));
    for (const run of await Promise.all(started))
      expect(await home.untilOver(run)).toMatchObject({ status: "completed", result: "timed_out" });
  }
  const late = await home.start(waits, { run: awaited, timeout: "10m" });
  await home.until(late, ({ waiting_on }) => waiting_on.length === 1);
  await home.decide((await home.pending(awaited))[0]);
  expect(await home.untilOver(late)).toMatchObject({ status: "completed", result: "completed" });
});
