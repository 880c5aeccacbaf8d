import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openTenant, SOON, workflowSource } from "./harness.ts";

/* A process is killed at each point between a call of continueAs and the end of the run that goes on. */

const LONG_MS = SOON.timeout * 4;
const deployment = await testDeployment();
const platform = await startPlatform({ roles: ["http", "projections"], deployment });
const first = await startProcess("services", deployment);
const home = await openTenant(platform.url, await platform.organization("Home"));
// each of its ends is the first event of its commit, after which the failpoint is named
const source = workflowSource(
  "await ctx.sleep(args.again ? 200 : 1_200);\nif (!args.again) return ctx.continueAs({ ...args, again: true });\nreturn args.n;",
);
const workflow = await home.register(source, { concurrency: { max_runs: 1, key: null } });
first.kill();
await first.ended;

const count = async (type: string): Promise<number> =>
  (
    await platform.resources.db.query<{ n: number }>("select count(*)::integer as n from log.events where type = $1", [
      type,
    ])
  )[0]!.n;

const POINTS = [
  "before-RunContinued:1",
  "after-RunContinued:1",
  "before-RunCreated:2",
  "after-RunCreated:2",
  "before-RunSettled:1",
  "before-RunCompleted:1",
];

test.each(POINTS.map((point, n) => [point, n + 1] as const))(
  "a run goes on as one other run when its process is killed at %s",
  async (point, n) => {
    const dying = await startProcess("services", deployment, { FAIL_AT: point });
    const started = home.start(workflow, { n });
    await dying.ended;
    const next = await startProcess("services", deployment);
    const { continued_as } = await home.until(await started, ({ status }) => status === "continued", LONG_MS);
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
    next.kill();
    await next.ended;
  },
);
