import type { RunContext, StepContext } from "svc:workflow";

/* Asks a service until it is done. Between two questions the run is a row and nothing else. */

export const meta = {
  description: "Waits for a job of another service.",
  args: {
    type: "object",
    properties: { url: { type: "string" }, every: { type: "string" } },
    required: ["url"],
  },
};

interface Job {
  url: string;
  every?: string;
}

export const steps = {
  ask: async ({ url }: Job, ctx: StepContext) => (await ctx.fetch(url)).json(),
};

export async function run(ctx: RunContext, { url, every = "1m" }: Job) {
  for (let n = 1; n <= 100; n++) {
    // equal calls are one execution, so each question has a key of its own
    const job = await ctx.runStep("ask", { url }, { key: String(n) });
    if (job.nth >= 3) return ctx.complete({ asked: n });
    await ctx.sleep(every, { key: String(n) });
  }
  throw new Error("the job did not end");
}
