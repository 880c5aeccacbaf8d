import { expect, test } from "vitest";
import { SOON, workflowSource } from "./harness.ts";
import { startWithoutServices } from "./withoutServices.ts";

/* A process is killed at each point between a call of continueAs and the end of the continuing run. */

const LONG_MS = SOON.timeout * 4;
// each of its ends is the first event of its commit, after which the failpoint is named
const source = workflowSource(
  "await ctx.sleep(args.again ? 200 : 1_200);\nif (!args.again) return ctx.continueAs({ ...args, again: true });\nreturn args.n;",
);
const { home, prepared, count, replaceAt } = await startWithoutServices((tenant) =>
  tenant.register(source, { concurrency: { max_runs: 1, key: null } }),
);

const POINTS = [
  "before-RunContinued:1",
  "after-RunContinued:1",
  "before-RunCreated:2",
  "after-RunCreated:2",
  "before-RunSettled:1",
  "before-RunCompleted:1",
];

test.each(POINTS.map((point, n) => [point, n + 1] as const))(
  "continueAs starts exactly one next run if its process is killed at %s",
  async (point, n) => {
    const run = await replaceAt(point, () => home.start(prepared, { n }));
    const { continued_as } = await home.until(run, ({ status }) => status === "continued", LONG_MS);
    await expect
      .poll(async () => (await home.owner("GET", `/workflows/runs/${continued_as}`)).status, {
        ...SOON,
        timeout: LONG_MS,
      })
      .toBe(200);
    const { status, result } = await home.untilOver(continued_as, LONG_MS);
    expect([status, result]).toEqual(["completed", n]);
    await expect.poll(() => count("RunSettled"), { ...SOON, timeout: LONG_MS }).toBe(n);
    const counts = await Promise.all(["RunCreated", "RunContinued", "RunCompleted"].map(count));
    expect(counts).toEqual([2 * n, n, n]);
  },
);
