import type { RunContext, StepContext } from "svc:workflow";

/* A file goes into the run, another one comes out, and a document remembers it. Needs a collection in `writable_collections`. */

export const meta = {
  description: "Counts the lines of a file.",
  args: {
    type: "object",
    properties: { file: { type: "string" }, collection: { type: "string" } },
    required: ["file", "collection"],
  },
};

export const steps = {
  count: async ({ file }: { file: string }, ctx: StepContext) => {
    const { name, content } = await ctx.files.read({ file_id: file });
    return { name, lines: content.split("\n").filter((line) => line !== "").length };
  },
  save: ({ name, lines }: { name: string; lines: number }, ctx: StepContext) =>
    ctx.files.save({ name: "report.csv", mime_type: "text/csv", text: `file;lines\n${name};${lines}\n` }),
  remember: ({ file, name, lines, collection }: Record<string, any>, ctx: StepContext) =>
    ctx.knowledge.push({ collection, external_id: file, name: `${name}.md`, text: `${name} has ${lines} lines.` }),
};

export async function run(ctx: RunContext, { file, collection }: { file: string; collection: string }) {
  const counted = await ctx.runStep("count", { file });
  const report = await ctx.runStep("save", counted);
  const { document_id } = await ctx.runStep("remember", { file, collection, ...counted });
  return ctx.complete({ lines: counted.lines, report: report.file_id, document_id });
}
