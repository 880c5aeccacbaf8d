import { openWorkflows, workflowSource, type Hook } from "./harness.ts";

export const SECRET = "a secret of the sender";

/** A workflow that returns what `run()` receives, and its hooks for senders that sign. */
export async function openSignedHooks() {
  const w = await openWorkflows();
  const workflow: { id: string } = await w.home.register(workflowSource("return { args, headers: ctx.headers };", ""));
  return {
    w,
    workflow,
    hookFor: (verify: object, more: object = {}): Promise<Hook> =>
      w.home.hook(workflow, { verify: { secret: SECRET, ...verify }, ...more }),
    /** Sends a body, as JSON unless the headers say otherwise. */
    async post({ hook_token }: Hook, body: string, headers: Record<string, string>, query = "") {
      const answer = await fetch(`${w.url}/api/workflows/hooks/${hook_token}${query}`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any, text: "" };
    },
    /** What `run()` received. */
    received: async ({ body }: { body: any }) => (await w.home.untilOver(body.run_id)).result,
  };
}
