import type { RunContext, StepContext } from "svc:workflow";

/* An agent drafts an answer, and a person sends it or not. */

export const meta = {
  description: "Drafts an answer to a customer.",
  args: {
    type: "object",
    properties: { agent_id: { type: "string" }, question: { type: "string" } },
    required: ["agent_id", "question"],
  },
};

interface Question {
  agent_id: string;
  question: string;
}

export const steps = {
  draft: async ({ agent_id, question }: Question, ctx: StepContext) =>
    (await ctx.agents.run({ agent_id, input: question })).output_text,
};

export async function run(ctx: RunContext, args: Question) {
  const draft = await ctx.runStep("draft", args);
  const { approved } = await ctx.awaitApproval("send", { title: "Send this answer?", body: draft, expires_in: "2d" });
  return ctx.complete({ draft, sent: approved });
}
