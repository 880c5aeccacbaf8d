import type { RunContext } from "svc:workflow";

/* Waits for an event that another system sends: POST /api/workflows/events {"name": "payment", "data": {"order": "A-1", …}}. */

export const meta = {
  description: "Waits until an order is paid.",
  args: {
    type: "object",
    properties: { order: { type: "string" }, patience: { type: "string" } },
    required: ["order"],
  },
};

export async function run(ctx: RunContext, { order, patience = "7d" }: { order: string; patience?: string }) {
  const payment = await ctx.waitForEvent("payment", { match: { order }, timeout: patience });
  if (payment.status === "timed_out") return ctx.complete({ order, paid: false });
  return ctx.complete({ order, paid: true, amount: payment.data.amount });
}
