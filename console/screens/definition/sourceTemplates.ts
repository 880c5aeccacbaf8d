import type { ScriptType } from "../../api/build.ts";

/** The initial text of a new script, which can be saved unchanged. */
export const SOURCE_TEMPLATES: Record<ScriptType, string> = {
  workflow: `import { type RunContext } from "svc:workflow";

export const meta = {
  name: "greeting",
  description: "Greets somebody once a person agrees.",
  args: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

export const steps = {
  greet: ({ name }: { name: string }) => \`Hello \${name}\`,
};

export async function run(ctx: RunContext, { name }: { name: string }) {
  const answer = await ctx.awaitApproval("agree", { title: \`Greet \${name}?\`, expires_in: "1d" });
  if (!answer.approved) return ctx.complete({ greeted: false });
  return ctx.complete({ greeted: true, words: await ctx.runStep("greet", { name }) });
}
`,
  tool: `export const meta = {
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
};

export function execute({ a, b }: { a: number; b: number }) {
  return { sum: a + b };
}
`,
};
