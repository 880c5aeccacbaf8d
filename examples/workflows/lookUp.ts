import type { RunContext, StepContext } from "svc:workflow";

/* Searches the organization's documents. No model is involved. */

export const meta = {
  description: "Finds passages for a question.",
  args: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
};

export const steps = {
  search: async ({ question }: { question: string }, ctx: StepContext) => {
    const { results } = await ctx.knowledge.search({ query: question, limit: 3 });
    return results.map(({ document, text }: { document: string; text: string }) => ({ document, text }));
  },
};

export async function run(ctx: RunContext, { question }: { question: string }) {
  const passages = await ctx.runStep("search", { question });
  return ctx.complete({ question, found: passages.length, passages });
}
