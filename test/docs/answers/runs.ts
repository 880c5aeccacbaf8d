import type { Colleague, Desk } from "./desk.ts";
import { askForHooks } from "./hooks.ts";

const SOURCE = `export const meta = { description: "Pays a refund", secrets: ["CRM_TOKEN"] };
export const steps = {
  refund: async (ctx, { order }) => {
    const { id } = await ctx.files.save({ name: "receipt.txt", text: "Refund of " + order });
    return { receipt: "R-" + order, file: id };
  },
};
export async function run(ctx, { order }) {
  const { decision } = await ctx.awaitApproval("manager", { title: "Refund " + order + "?", assignees: [{ role: "owner" }] });
  if (decision === "reject") return ctx.complete({ refunded: false });
  return ctx.complete({ refunded: true, ...(await ctx.runStep("refund", { order })) });
}
`;
const FAILING = `export async function run() { throw new Error("There is no such order."); }`;

/** Definitions, and a workflow of one of them. */
async function askForDefinitions({ ask }: Desk): Promise<{ workflow: string; definition: string }> {
  await ask("put /api/secrets/{name}", { path: ["CRM_TOKEN"] });
  await ask("get /api/secrets");
  const tool = await ask("post /api/definitions");
  await ask("patch /api/definitions/{id}", { path: [tool.id] });
  await ask("get /api/definitions/{id}/versions", { path: [tool.id] });
  await ask("get /api/tools");
  await ask("put /api/tools/scripted", { body: { enabled: true } });
  await ask("get /api/tools/scripted");
  const { id: definition } = await ask("post /api/definitions", {
    body: { type: "workflow", name: "refund", source: SOURCE, grants: ["CRM_TOKEN"] },
  });
  await ask("get /api/definitions");
  await ask("post /api/definitions/check", { body: { type: "workflow", source: SOURCE } });
  await ask("post /api/definitions/check-types", { body: { type: "workflow", source: SOURCE } });
  await ask("get /api/workflow-definitions");
  const { id: workflow } = await ask("post /api/workflows", { body: { definition_id: definition } });
  await ask("get /api/workflows");
  return { workflow, definition };
}

/** The routes of a pending approval, also those of a link, whose holder decides it. */
async function askForApproval({ ask, tenant }: Desk, run: string): Promise<void> {
  const [{ id }] = await tenant.pending(run);
  const one = "/api/workflows/approvals/{approval_id}";
  const path = [id];
  await ask(`get ${one}`, { path });
  await ask(`post ${one}/comments`, { path });
  await ask(`get ${one}/comments`, { path });
  const { id: link, url } = await ask(`post ${one}/links`, { path });
  await ask(`get ${one}/links`, { path });
  const by = tenant.clientAt(new URL(url).hash.slice(1));
  await ask("get /api/workflows/approval-links/{link_id}", { path: [link], by });
  await ask("post /api/workflows/approval-links/{link_id}/decision", { path: [link], by });
}

async function startRefund({ ask }: Desk, workflow: string): Promise<string> {
  return (await ask("post /api/workflows/{id}/runs", { path: [workflow], body: { files: [] } })).id;
}

/** A failed run, retried alone and with others; a fork; an event; a run that is cancelled. */
async function askForOtherRuns(desk: Desk, workflow: string, definition: string): Promise<void> {
  const { ask, tenant } = desk;
  const { id: failed } = await tenant.run(FAILING);
  const path = [failed];
  await ask("post /api/workflows/runs/{run_id}/retry", { path });
  await ask("post /api/workflows/runs/{run_id}/fork", { path });
  await ask("post /api/workflows/runs/change", { body: { filter: { status: "failed" } } });
  await ask("post /api/workflows/events");
  await ask("post /api/definitions/{id}/check-runs", { path: [definition] });
  const waiting = await startRefund(desk, workflow);
  await ask("post /api/workflows/runs/{run_id}/cancel", { path: [waiting] });
  await ask("get /api/workflows/runs");
}

/** Workflows and their runs, from a definition to a decision. */
export async function askForWorkflows(desk: Desk, colleague: Colleague): Promise<void> {
  const { ask, tenant } = desk;
  const { workflow, definition } = await askForDefinitions(desk);
  const run = await startRefund(desk, workflow);
  await askForApproval(desk, run);
  await tenant.untilOver(run);
  const one = "get /api/workflows/runs/{run_id}";
  for (const part of ["", "/files", "/approvals"]) await ask(`${one}${part}`, { path: [run] });
  const { data: steps } = await ask(`${one}/steps`, { path: [run] });
  await ask(`${one}/steps/{step_id}/reason`, { path: [run, steps[0].id] });
  const [{ id }] = await tenant.pending(await startRefund(desk, workflow));
  await ask("post /api/workflows/approvals/{approval_id}/delegate", { path: [id], body: { to: colleague.id } });
  await ask("post /api/workflows/approvals/{approval_id}/decision", { path: [id], by: colleague.call });
  await askForHooks(desk, workflow);
  await askForOtherRuns(desk, workflow, definition);
}
