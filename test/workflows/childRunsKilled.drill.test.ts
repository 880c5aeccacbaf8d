import { beforeAll, expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment, type Deployment, type Platform } from "../platform.ts";
import { openTenant, SOON, workflowSource, type Tenant } from "./harness.ts";

/* A process is killed at each point between the call that starts a child run and the answer of its end. */

const LONG_MS = SOON.timeout * 4;
let deployment: Deployment;
let platform: Platform;
let home: Tenant;
let workflows: { parent: { id: string }; child: { id: string } };
beforeAll(async () => {
  deployment = await testDeployment();
  platform = await startPlatform({ roles: ["http", "projections"], deployment });
  const first = await startProcess("services", deployment);
  home = await openTenant(platform.url, await platform.organization("Home"));
  workflows = {
    child: await home.register(workflowSource("await ctx.sleep(200);\nreturn args.n;")),
    parent: await home.register(
      workflowSource("return ctx.waitForRun(await ctx.startRun(args.workflow, { n: args.n }));"),
    ),
  };
  first.kill();
  await first.ended;
});

const count = async (type: string): Promise<number> =>
  (
    await platform.resources.db.query<{ n: number }>("select count(*)::integer as n from log.events where type = $1", [
      type,
    ])
  )[0]!.n;

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
  "a run gets the answer of its child run once when its process is killed at %s",
  async (point, n) => {
    const dying = await startProcess("services", deployment, { FAIL_AT: point });
    const started = home.start(workflows.parent, { workflow: workflows.child.id, n });
    await dying.ended;
    const next = await startProcess("services", deployment);
    const run = await started;
    const { status, result } = await home.untilOver(run, LONG_MS);
    expect([status, result.status, result.result]).toEqual(["completed", "completed", n]);
    await expect.poll(() => count("RunSettled"), { ...SOON, timeout: LONG_MS }).toBe(n);
    const counts = await Promise.all(["RunCreated", "RunCompleted", "ChildRunStarted", "WaitAnswered"].map(count));
    expect(counts).toEqual([2 * n, 2 * n, n, n]);
    next.kill();
    await next.ended;
  },
);
