import { NonRetryableError, type RunContext } from "svc:workflow";

/* The same step for many items, five at once. One failure does not stop the others. */

export const meta = {
  description: "Measures texts.",
  args: { type: "object", properties: { texts: { type: "array", items: { type: "string" } } }, required: ["texts"] },
};

export const steps = {
  measure: ({ text }: { text: string }) => {
    if (text === "") throw new NonRetryableError("the text is empty");
    return text.length;
  },
};

export async function run(ctx: RunContext, { texts }: { texts: string[] }) {
  const items = texts.map((text) => ({ text }));
  const results = await ctx.runStepMany("measure", items, { concurrency: 5, onError: "return" });
  const lengths = results.map(({ ok, value }) => (ok ? value : null));
  return ctx.complete({ lengths, failed: results.filter(({ ok }) => !ok).length });
}
