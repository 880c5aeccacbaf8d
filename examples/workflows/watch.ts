import type { RunContext, StepContext } from "svc:workflow";

/* Watches a number for ever. Each day is a run of its own, so no history grows without an end. */

export const meta = {
  description: "Asks a service every hour, and a person when its number is too high.",
  args: {
    type: "object",
    properties: {
      url: { type: "string" },
      limit: { type: "number" },
      highest: { type: "number" },
      every: { type: "string" },
    },
    required: ["url", "limit"],
  },
};

interface Args {
  url: string;
  limit: number;
  /** The highest number so far: what one run hands to the next. */
  highest?: number;
  every?: string;
}

export const steps = {
  ask: async ({ url }: { url: string }, ctx: StepContext) => (await (await ctx.fetch(url)).json()).value,
};

const QUESTIONS = 24;

export async function run(ctx: RunContext, { url, limit, highest = 0, every = "1h" }: Args) {
  for (let n = 1; n <= QUESTIONS; n++) {
    const value = await ctx.runStep("ask", { url }, { key: String(n) });
    if (value > highest) highest = value;
    if (value > limit) {
      const { approved } = await ctx.awaitApproval("go on", { title: `${value} is above ${limit}. Go on?` });
      if (!approved) return ctx.complete({ highest });
      limit = value;
    }
    await ctx.sleep(every, { key: String(n) });
  }
  return ctx.continueAs({ url, limit, highest, every });
}
