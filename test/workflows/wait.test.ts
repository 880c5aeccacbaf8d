import { beforeAll, expect, test } from "vitest";
import { gate, openStage, type Stage } from "./stage.ts";

/* Reads that wait for the end of a run, in place of asking again and again. */

const gates = { hook: gate(), run: gate() };
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    held: {
      run: async (ctx, { by }) => ctx.complete(await ctx.runStep("hold", { by })),
      steps: { hold: ({ by }: { by: "hook" | "run" }) => gates[by]?.opened.then(() => by) },
    },
    parked: { run: async (ctx) => void (await ctx.awaitApproval("never")) },
  });
});

test("a hook's poll and the run's record are answered when it ends", async () => {
  const workflow = await stage.register("held");
  const hook = await stage.hook(workflow);
  const call = stage.caller(hook);
  const { run_id } = await stage.made(call("POST", `/hooks/${hook.hook_token}`, { by: "hook" }));
  const polled = call("GET", `/hooks/${hook.hook_token}/runs/${run_id}?wait=60`);
  const other = await stage.start(workflow, { by: "run" });
  const read = stage.home.person("GET", `/runs/${other}?wait=60`);
  const early = await Promise.race([polled, read, new Promise((resolve) => setTimeout(resolve, 300, "none"))]);
  expect(early).toBe("none");
  gates.hook.open();
  expect((await polled).body).toMatchObject({ status: "completed", result: "hook" });
  gates.run.open();
  expect((await read).body).toMatchObject({ status: "completed", result: "run" });
  expect((await call("GET", `/hooks/${hook.hook_token}/runs/${run_id}?wait=60`)).body).toMatchObject({
    result: "hook",
  });
});

test.each(["0", "0.05", "-3", "soon"])("one that lives on is answered as it stands: wait=%s", async (wait) => {
  const run = await stage.start(await stage.register("parked"));
  const { status, body } = await stage.home.person("GET", `/runs/${run}?wait=${wait}`);
  expect(status).toBe(200);
  expect(["pending", "running"]).toContain(body.status);
});
