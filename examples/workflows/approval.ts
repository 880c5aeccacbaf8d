import type { RunContext } from "svc:workflow";

/* Asks a person who fills in a form. A rejection is an answer like any other. */

export const meta = {
  description: "Lets somebody set a budget.",
  args: { type: "object", properties: { project: { type: "string" } }, required: ["project"] },
};

const form = {
  type: "object",
  properties: { amount: { type: "integer", minimum: 1 } },
  required: ["amount"],
};

export async function run(ctx: RunContext, { project }: { project: string }) {
  const title = `Budget for ${project}?`;
  const { approved, data, comment } = await ctx.awaitApproval("budget", { title, form, expires_in: "7d" });
  return ctx.complete(approved ? { project, budget: data.amount } : { project, refused: comment });
}
