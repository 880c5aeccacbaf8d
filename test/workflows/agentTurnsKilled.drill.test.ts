import { expect, test } from "vitest";
import { SOON, workflowSource } from "./harness.ts";
import { startWithoutServices } from "./withoutServices.ts";

/* A process is killed at each point between the call that asks an agent and the answer of its turn. */

const LONG_MS = SOON.timeout * 4;
const { home, prepared, count, replaceAt } = await startWithoutServices(async (tenant) => {
  await tenant.newAgent({ name: "Clerk" });
  return tenant.register(workflowSource('return (await ctx.agent("Clerk", "Question " + args.n)).output_text;'));
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
  "a run gets the answer of its agent once if its process is killed at %s",
  async (point, n) => {
    const run = await replaceAt(point, () => home.start(prepared, { n }));
    const { status, result, error } = await home.untilOver(run, LONG_MS);
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
  },
);
