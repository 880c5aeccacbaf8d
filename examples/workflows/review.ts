import type { RunContext } from "svc:workflow";

/* Two agents work on a text, one after the other. The run waits for them without a worker. */

export const meta = {
  description: "An agent writes, another one reviews.",
  args: { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] },
};

export async function run(ctx: RunContext, { topic }: { topic: string }) {
  const draft = await ctx.agent("Writer", `Write a paragraph about ${topic}.`);
  const review = await ctx.agent("Reviewer", draft.output_text, { onError: "return" });
  if (!review.ok) return ctx.complete({ text: draft.output_text, reviewed: false, why: review.error.message });
  const final = await ctx.agent("Writer", review.value.output_text, { thread_id: draft.thread_id });
  return ctx.complete({ text: final.output_text, reviewed: true });
}
