import { beforeAll, expect, onTestFinished, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { SOON, workflowSource } from "./harness.ts";
import { startWithoutServices, type WithoutServices } from "./withoutServices.ts";

/* A process is killed at each point between the call that asks an agent and the answer of its turn. */

const LONG_MS = SOON.timeout * 4;
let site: WithoutServices;
let workflow: { id: string };
beforeAll(async () => {
  site = await startWithoutServices(async (tenant) => {
    await tenant.newAgent({ name: "Clerk" });
    workflow = await tenant.register(
      workflowSource('return (await ctx.agent("Clerk", "Question " + args.n)).output_text;'),
    );
  });
});

const POINTS = [
  "before-TurnStarted:1",
  "after-TurnStarted:1",
  "before-AgentTurnStarted:1",
  "after-AgentTurnStarted:1",
  "before-TurnCompleted:1",
  "after-TurnCompleted:1",
  "before-WaitAnswered:1",
  "after-WaitAnswered:1",
];

test.each(POINTS.map((point, n) => [point, n + 1] as const))(
  "a run gets the answer of its agent once when its process is killed at %s",
  async (point, n) => {
    const { deployment, home, count } = site;
    const dying = await startProcess("services", deployment, { FAIL_AT: point });
    onTestFinished(() => void dying.kill());
    const started = home.start(workflow, { n });
    await dying.ended;
    const next = await startProcess("services", deployment);
    onTestFinished(() => void next.kill());
    const { status, result, error } = await home.untilOver(await started, LONG_MS);
    expect({ status, result, error }).toEqual({ status: "completed", result: `Question ${n}`, error: null });
    const types = ["AgentTurnRequested", "TurnStarted", "TurnCompleted", "AgentTurnStarted", "WaitAnswered"];
    const counts = Object.fromEntries(await Promise.all(types.map(async (type) => [type, await count(type)])));
    // the answer may come before the start is recorded
    expect(counts).toEqual({
      AgentTurnRequested: n,
      TurnStarted: n,
      TurnCompleted: n,
      AgentTurnStarted: expect.toSatisfy((times: number) => times <= n),
      WaitAnswered: n,
    });
    next.kill();
    await next.ended;
  },
);
