import { defineStep, type RunContext } from "svc:workflow";

/* A refund: small ones go through, large ones wait for a person. docs/workflows.md says how such code runs. */

interface Order {
  order: string;
  amount: number;
}

export const meta = {
  description: "Refunds an order; above 500 somebody has to agree.",
  args: {
    type: "object",
    properties: { order: { type: "string" }, amount: { type: "number", minimum: 0 } },
    required: ["order", "amount"],
  },
};

export const steps = {
  /** A step may fail, wait and be tried again; the key is the same each time. */
  refund: defineStep({ retries: 4 }, ({ order, amount }: Order, ctx) => ({
    receipt: `${order}-${ctx.idempotencyKey.slice(0, 8)}`,
    amount,
  })),
  tell: ({ to, about }: { to: string; about: string }) => `${to}: ${about}`,
};

export async function run(ctx: RunContext, { order, amount }: Order) {
  if (!/^[A-Z]-\d+$/.test(order)) throw new Error(`There is no order ${order}; one looks like A-17.`);
  if (amount > 500) {
    const answer = await ctx.awaitApproval("manager", { title: `Refund ${amount} for ${order}?`, expires_in: "3d" });
    if (!answer.approved) return ctx.complete({ refunded: false, because: answer.comment });
  }
  const { receipt } = await ctx.runStep("refund", { order, amount });
  const told = await ctx.runStepMany("tell", [
    { to: "customer", about: receipt },
    { to: "books", about: receipt },
  ]);
  return ctx.complete({ refunded: true, receipt, told });
}
