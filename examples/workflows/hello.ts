import type { RunContext, StepContext } from "svc:workflow";

/* The smallest workflow: one step, whose result is recorded once. */

export const meta = {
  description: "Greets somebody.",
  args: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

export const steps = {
  greet: ({ name }: { name: string }, ctx: StepContext) => {
    ctx.log("greeting", name);
    return `Hello, ${name}!`;
  },
};

export async function run(ctx: RunContext, { name }: { name: string }) {
  return ctx.complete({ greeting: await ctx.runStep("greet", { name }) });
}
