import { z } from "zod";
import { streamOf } from "#events/ids.ts";
import { approvalsOfRun, listApprovals } from "#projections/runs/approvals.ts";
import type { App } from "../app.ts";
import { requireCredential, requireSession } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { Approval, ApprovalStatus, presentApproval } from "./approvalShape.ts";
import { decide, Deciding, mayDecide } from "./decide.ts";
import { reachRun } from "./reach.ts";
import { RunStatus } from "./runShape.ts";

const Query = PageQuery.extend({
  status: ApprovalStatus.optional(),
  mine: z.enum(["true", "false"]).optional().describe("Only those that the signed-in person may decide."),
});

/** What runs ask of people. */
export function approvalRoutes(app: App, http: Http): void {
  const described = { tags: ["Workflows"], security: [{ key: [] }] };

  const ofRun = {
    ...described,
    summary: "What a run waits on, or waited on",
    params: z.object({ run_id: z.string() }),
    response: { 200: z.object({ data: z.array(Approval) }) },
  };
  app.get("/runs/:run_id/approvals", { onRequest: requireCredential(http), schema: ofRun }, async (request) => {
    const { id } = await reachRun(http, request.caller, request.params.run_id);
    await http.freshRead(["runs"], streamOf("run", id));
    return { data: (await approvalsOfRun(http.db, id)).map(presentApproval) };
  });

  const inbox = {
    ...described,
    security: [{ session: [] }],
    summary: "Approvals of the organization, the oldest first",
    querystring: Query,
    response: { 200: listOf(Approval) },
  };
  app.get("/approvals", { onRequest: requireSession(http), schema: inbox }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["runs"]);
    const { user_id, email, role } = caller.session!;
    const mine = query.mine === "true" ? { user_id, email, role } : null;
    if (mine && !mayDecide(role)) return { data: [], total: 0, ...page };
    const asked = { status: query.status ?? null, mine };
    const { rows, total } = await listApprovals(http.db, caller.organization_id, asked, page);
    return { data: rows.map(presentApproval), total, ...page };
  });

  const deciding = {
    ...described,
    summary: "Approve or reject",
    description: "The same decision by the same person or key is answered again with the record.",
    params: z.object({ approval_id: z.string() }),
    body: Deciding,
    response: { 200: Approval.extend({ run_status: RunStatus }) },
  };
  app.post(
    "/approvals/:approval_id/decision",
    { onRequest: requireCredential(http), schema: deciding },
    async (request) => {
      const row = await decide(http, request, request.params.approval_id, request.body);
      const run = await reachRun(http, request.caller, row.run_id);
      return { ...presentApproval(row), run_status: run.status };
    },
  );
}
