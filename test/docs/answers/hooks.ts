import { createHmac } from "node:crypto";
import type { Desk } from "./desk.ts";

/** A schedule and webhooks of a workflow, and calls of them. */
export async function askForHooks(desk: Desk, workflow: string): Promise<void> {
  const { ask, tenant } = desk;
  const schedule = await ask("post /api/workflows/{id}/triggers", { path: [workflow] });
  await ask("patch /api/workflows/{id}/triggers/{trigger_id}", { path: [workflow, schedule.id] });
  const hook = await tenant.hook({ id: workflow }, { name: "Shop" });
  const by = tenant.caller(hook);
  await ask("get /api/workflows/{id}/triggers", { path: [workflow] });
  const { run_id } = await ask("post /api/workflows/hooks/{hook_token}", { path: [hook.hook_token], by });
  await ask("get /api/workflows/hooks/{hook_token}/runs/{run_id}", { path: [hook.hook_token, run_id], by });
  await ask("post /api/workflows/{id}/triggers/{trigger_id}/rotate", { path: [workflow, hook.id], body: "{}" });
  await askSlack(desk, workflow);
}

/** Slack checks an address before it delivers anything. */
async function askSlack({ ask, tenant }: Desk, workflow: string): Promise<void> {
  const secret = "the secret of Slack";
  const hook = await tenant.hook({ id: workflow }, { name: "Slack", verify: { scheme: "slack", secret } });
  const body = JSON.stringify({ type: "url_verification", challenge: "of-slack" });
  const at = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  const headers = { "x-slack-request-timestamp": at, "x-slack-signature": `v0=${signature}` };
  await ask("post /api/workflows/hooks/{hook_token}", { path: [hook.hook_token], body, headers });
}
