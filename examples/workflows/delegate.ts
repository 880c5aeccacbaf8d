import type { RunContext } from "svc:workflow";

/* A run of another workflow for each item, and their results. Start it with the id or name of that workflow. */

export const meta = {
  description: "Starts a run for each item and waits for all of them.",
  args: {
    type: "object",
    properties: { workflow: { type: "string" }, items: { type: "array", items: { type: "object" } } },
    required: ["workflow", "items"],
  },
};

interface Args {
  workflow: string;
  items: Record<string, unknown>[];
}

export async function run(ctx: RunContext, { workflow, items }: Args) {
  // equal items would share one run: the key tells them apart
  const runs = await Promise.all(items.map((item, n) => ctx.startRun(workflow, item, { key: String(n) })));
  const ends = await Promise.all(runs.map((started) => ctx.waitForRun(started, { timeout: "1h" })));
  return ctx.complete(ends.map(({ status, result }) => (status === "completed" ? result : { status })));
}
