import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { SOON, workflowSource } from "./harness.ts";
import { startWithoutServices } from "./withoutServices.ts";

/* A process is killed at each point between the acceptance of an event and the record of its delivery. */

const LONG = { ...SOON, timeout: SOON.timeout * 4 };
const RUNS = 3;
const { deployment, home, prepared, count } = await startWithoutServices((tenant) =>
  tenant.register(workflowSource('return (await ctx.waitForEvent("paid")).data.n;')),
);

const POINTS = ["after-MessagePosted:1", "before-WaitAnswered:2", "after-WaitAnswered:1", "before-MessageDelivered:1"];

test.each(POINTS.map((point, n) => [point, n + 1] as const))(
  "an event reaches each run once if its process is killed at %s",
  async (point, n) => {
    const dying = await startProcess("services", deployment, { FAIL_AT: point });
    const runs = await Promise.all(Array.from({ length: RUNS }, () => home.start(prepared)));
    for (const run of runs) await home.until(run, ({ waiting_on }) => waiting_on.length === 1);
    const post = () => home.owner("POST", "/workflows/events", { name: "paid", data: { n }, id: `event-${n}` });
    const posted = post();
    await dying.ended;
    const processes = [await startProcess("services", deployment), await startProcess("services", deployment)];
    expect((await posted).status).toBeLessThan(504);
    for (const run of runs) expect((await home.untilOver(run, LONG.timeout)).result).toBe(n);
    await expect.poll(() => count("MessageDelivered"), LONG).toBe(n);
    expect((await post()).body.reached).toBe(RUNS);
    expect([await count("MessagePosted"), await count("WaitAnswered")]).toEqual([n, n * RUNS]);
    for (const process of processes) {
      process.kill();
      await process.ended;
    }
  },
);

test.each(["before-WaitAnswered:1", "after-WaitAnswered:1"])(
  "an event that one run waits for reaches it once if its process is killed at %s",
  async (point) => {
    const counts = () => Promise.all(["MessagePosted", "WaitAnswered", "MessageDelivered"].map(count));
    const before = await counts();
    const dying = await startProcess("services", deployment, { FAIL_AT: point });
    const run = await home.start(prepared);
    await home.until(run, ({ waiting_on }) => waiting_on.length === 1);
    const post = () => home.owner("POST", "/workflows/events", { name: "paid", data: { n: 7 }, id: `one-${point}` });
    const posted = post();
    await dying.ended;
    const process = await startProcess("services", deployment);
    expect((await posted).status).toBeLessThan(504);
    expect((await home.untilOver(run, LONG.timeout)).result).toBe(7);
    await expect.poll(counts, LONG).toEqual(before.map((number) => number + 1));
    expect((await post()).body.reached).toBe(1);
    process.kill();
    await process.ended;
  },
);
