/* The workflows of the service; dbosProcess.ts has the same ones for DBOS. */

export const SEQUENCE = `
export const meta = { type: "workflow", description: "Sequential steps that do nothing" };
export const steps = { echo: async ({ n }) => n };
export async function run(ctx, { steps }) {
  for (let n = 0; n < steps; n++) await ctx.runStep("echo", { n });
  return ctx.complete(steps);
}
`;

export const PARENT = `
export const meta = { type: "workflow", description: "Waits for a run that it starts" };
export const steps = { echo: async ({ n }) => n };
export async function run(ctx, { child }) {
  const { status } = await ctx.waitForRun(await ctx.startRun(child, { steps: 1 }));
  return ctx.complete(status);
}
`;

export const LISTENING = `
export const meta = { type: "workflow", description: "Waits for an event" };
export const steps = { echo: async ({ n }) => n };
export async function run(ctx, { id }) {
  const event = await ctx.waitForEvent("answer", { match: { id }, timeout: "1h" });
  return ctx.complete(event.data.n);
}
`;

export const WAITING = `
export const meta = { type: "workflow", description: "Waits for a decision" };
export const steps = { echo: async ({ n }) => n };
export async function run(ctx) {
  await ctx.awaitApproval("decision", { title: "Continue?" });
  await ctx.runStep("echo", { n: 1 });
  return ctx.complete(null);
}
`;
