import { expect, test } from "vitest";
import { gate, openFunctions } from "./harness.ts";

/* Reads that wait for the end of a run (`?wait=`). */

const gates = { hook: gate(), run: gate() };
const stage = await openFunctions({
  held: {
    run: async (ctx, { by }) => ctx.complete(await ctx.runStep("hold", { by })),
    steps: { hold: ({ by }: { by: "hook" | "run" }) => gates[by]?.opened.then(() => by) },
  },
  parked: { run: async (ctx) => void (await ctx.awaitApproval("never")) },
});
const { home } = stage;

test("a hook's poll and a read of the run with ?wait return when the run ends", async () => {
  const workflow = await stage.register("held");
  const hook = await home.hook(workflow);
  const call = home.caller(hook);
  const { run_id } = await home.made(call("POST", `/workflows/hooks/${hook.hook_token}`, { by: "hook" }));
  const polled = call("GET", `/workflows/hooks/${hook.hook_token}/runs/${run_id}?wait=60`);
  const other = await home.start(workflow, { by: "run" });
  const read = home.owner("GET", `/workflows/runs/${other}?wait=60`);
  const early = await Promise.race([polled, read, new Promise((resolve) => setTimeout(resolve, 300, "none"))]);
  expect(early).toBe("none");
  gates.hook.open();
  expect((await polled).body).toMatchObject({ status: "completed", result: "hook" });
  gates.run.open();
  expect((await read).body).toMatchObject({ status: "completed", result: "run" });
  expect((await call("GET", `/workflows/hooks/${hook.hook_token}/runs/${run_id}?wait=60`)).body).toMatchObject({
    result: "hook",
  });
});

test.each(["0", "0.05", "0.0123", "-3", "soon"])(
  "a read with ?wait=%s of a run that stays live returns the live run",
  async (wait) => {
    const run = await home.start(await stage.register("parked"));
    const { status, body } = await home.owner("GET", `/workflows/runs/${run}?wait=${wait}`);
    expect(status).toBe(200);
    expect(["pending", "running"]).toContain(body.status);
  },
);
