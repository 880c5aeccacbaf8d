import type { RunContext } from "svc:workflow";

/*
 * Started by GitHub. The trigger has verify {scheme: "github", secret} and headers ["x-github-event"]; the payload is the
 * argument.
 */

export const meta = { description: "Sorts new issues." };

export const steps = {
  sort: ({ title }: { title: string }) => (/\b(crash|error|fails?)\b/i.test(title) ? "bug" : "question"),
};

export async function run(ctx: RunContext, { action, issue }: { action?: string; issue?: { title: string } }) {
  const event = ctx.headers["x-github-event"];
  if (event !== "issues" || action !== "opened" || !issue) return ctx.complete({ ignored: event });
  return ctx.complete({ label: await ctx.runStep("sort", { title: issue.title }) });
}
