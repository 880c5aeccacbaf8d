import type { RunContext, StepContext } from "svc:workflow";

/* Asks a model. An attempt that repeats the question gets the same answer, which is paid once. */

export const meta = {
  description: "Summarizes a text.",
  args: {
    type: "object",
    properties: { text: { type: "string" }, model: { type: "string" } },
    required: ["text", "model"],
  },
};

interface Task {
  text: string;
  model: string;
}

export const steps = {
  summarize: async ({ text, model }: Task, ctx: StepContext) => {
    const messages = [
      { role: "system" as const, content: "Summarize in one sentence." },
      { role: "user" as const, content: text },
    ];
    const { content, usage } = await ctx.chat({ model, messages });
    return { summary: content, tokens: usage.total_tokens };
  },
};

export const run = (ctx: RunContext, args: Task) => ctx.runStep("summarize", args);
