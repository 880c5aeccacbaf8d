import { defineStep, NonRetryableError, type RunContext } from "svc:workflow";

/* A step that is tried again after a failure that may pass, and not after one that stays. */

export const meta = {
  description: "Fetches an order.",
  args: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
};

export const steps = {
  fetch: defineStep(
    { retries: 5, backoff: { kind: "fixed", initial_ms: 10, jitter: 0 }, timeout_s: 30 },
    async ({ url }: { url: string }, ctx) => {
      const answer = await ctx.fetch(url);
      if (answer.status === 404) throw new NonRetryableError("there is no such order");
      if (!answer.ok || ctx.attempt === 1) throw new Error(`the shop answered ${answer.status}; again`);
      return { attempt: ctx.attempt, order: await answer.json() };
    },
  ),
};

export const run = (ctx: RunContext, { url }: { url: string }) => ctx.runStep("fetch", { url });
