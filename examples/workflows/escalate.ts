import type { RunContext } from "svc:workflow";

/* Asks one person, and another one when the first does not answer in time. */

export const meta = {
  description: "Asks the team first, and then the lead.",
  args: { type: "object", properties: { wait_ms: { type: "integer", minimum: 1 } } },
};

export async function run(ctx: RunContext, { wait_ms = 86_400_000 }: { wait_ms?: number }) {
  const first = await ctx.awaitApproval("team", { title: "Deploy?", expires_in: wait_ms });
  if (first.status !== "expired") return ctx.complete({ by: "team", approved: first.approved });
  const second = await ctx.awaitApproval("lead", { title: "Deploy? The team did not answer.", expires_in: "7d" });
  return ctx.complete({ by: "lead", approved: second.approved });
}
