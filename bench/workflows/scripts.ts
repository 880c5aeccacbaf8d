/* What the service runs; dbosProcess.ts has the same for DBOS. */

export const SEQUENCE = `
export const meta = { type: "workflow", description: "So many steps, one after another" };
export const steps = { echo: async ({ n }) => n };
export async function run(ctx, { steps }) {
  for (let n = 0; n < steps; n++) await ctx.runStep("echo", { n });
  return ctx.complete(steps);
}
`;

export const WAITING = `
export const meta = { type: "workflow", description: "Waits for a person" };
export const steps = { echo: async ({ n }) => n };
export async function run(ctx) {
  await ctx.awaitApproval("decision", { title: "Go on?" });
  await ctx.runStep("echo", { n: 1 });
  return ctx.complete(null);
}
`;
