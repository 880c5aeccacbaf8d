import { defineStep, type RunContext } from "svc:workflow";

/* Two writes in one step. Each carries an Idempotency-Key of its own, the same in every attempt: nobody is paid twice. */

export const meta = {
  description: "Pays two people.",
  args: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
};

export const steps = {
  pay: defineStep({ retries: 3, on_lost: "retry" }, async ({ url }: { url: string }, ctx) => {
    const paid = [];
    for (const to of ["ann", "bob"]) {
      const answer = await ctx.fetch(`${url}?to=${to}`, { method: "POST", body: JSON.stringify({ amount: 5 }) });
      if (!answer.ok) throw new Error(`${to} was not paid`);
      paid.push(to);
    }
    return paid;
  }),
};

export async function run(ctx: RunContext, { url }: { url: string }) {
  return ctx.complete({ paid: await ctx.runStep("pay", { url }) });
}
