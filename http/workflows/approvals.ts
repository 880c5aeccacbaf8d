import { z } from "zod";
import { streamName } from "#events/ids.ts";
import type { Actor } from "#events/runOrigin.ts";
import { APPROVAL_ORDERS, listRunApprovals, listApprovals } from "#projections/runs/approvals.ts";
import { mayDecide, requireCredential, requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import { Approval, ApprovalStatus, presentApproval } from "./approvalShape.ts";
import { findApprovers, findReader } from "./approvers.ts";
import { decide, DecisionBody, requireApproval } from "./decideApproval.ts";
import { actorFrom } from "./actor.ts";
import { requireRun } from "./lookups.ts";
import { RunStatus } from "./runShape.ts";

const DECIDER = /^(person|key):([0-9a-f-]{36})$/;
/** The decider in the stored form; null for no filter. */
function readDecider(text = ""): Pick<Actor, "type" | "id"> | null {
  const [, kind, id] = DECIDER.exec(text) ?? [];
  return id === undefined ? null : { type: kind === "key" ? "api_key" : "person", id };
}

const Query = PageQuery.extend({
  status: ApprovalStatus.optional(),
  mine: z.enum(["true", "false"]).optional().describe("`true`: only approvals that the signed-in person may decide."),
  decided_by: z
    .string()
    .regex(DECIDER, "must be person:<id> or key:<id>")
    .optional()
    .describe("Only approvals that this person or key decided or voted on: `person:<id>`, `key:<id>`."),
  order: z
    .enum(APPROVAL_ORDERS)
    .optional()
    .describe("`urgent` (default): pending ones with a reminder first, then the oldest. `oldest`, `newest`: by time."),
});

const BASE_SCHEMA = { tags: ["Workflows"], security: [{ key: [] }] };

/** Approvals that runs and agents request from people. */
export function approvalRoutes(app: App, http: Http): void {
  const ofRun = {
    ...describeList(BASE_SCHEMA, "List the approvals of a run", Approval),
    description: "All, up to 500, unless `limit` is given.",
    params: z.object({ run_id: z.string() }),
  };
  app.get("/runs/:run_id/approvals", { onRequest: requireCredential(http), schema: ofRun }, async (request) => {
    const { id } = await requireRun(http, request.caller, request.params.run_id);
    await http.waitUntilCurrent(["runs"], streamName("run", id));
    const reader = await findReader(http, request.caller);
    return pageResponse(
      { limit: "500", ...request.query },
      (page) => listRunApprovals(http.db, id, page),
      (row) => presentApproval(row, reader),
    );
  });

  const inbox = {
    ...describeList(BASE_SCHEMA, "List the approvals of the organization", Approval),
    security: [{ session: [] }],
    querystring: Query,
  };
  app.get("/approvals", { onRequest: requireSession(http), schema: inbox }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["runs"]);
    const { role } = caller.session!;
    const reader = await findApprovers(http, caller.organization_id, caller.session!);
    const mine = query.mine === "true" ? reader : null;
    const { status = null, order = "urgent" } = query;
    const decided_by = readDecider(query.decided_by);
    const filter = { status, mine, reader: actorFrom(caller), readsAll: mayDecide(role), decided_by, order };
    return pageResponse(
      query,
      async (page) =>
        mine && !mayDecide(role)
          ? { rows: [], total: 0 }
          : listApprovals(http.db, caller.organization_id, filter, page),
      (row) => presentApproval(row, reader),
    );
  });

  const readingOne = {
    ...BASE_SCHEMA,
    summary: "Get an approval",
    params: z.object({ approval_id: z.string() }),
    response: { 200: Approval },
  };
  app.get(
    "/approvals/:approval_id",
    { onRequest: requireCredential(http), schema: readingOne },
    async ({ caller, params }) => {
      const row = await requireApproval(http, caller, params.approval_id);
      return presentApproval(row, await findReader(http, caller));
    },
  );

  decisionRoute(app, http);
}

const DecidedApproval = Approval.extend({
  run_status: RunStatus.nullable().describe("Null if a tool call of an agent waited for the approval."),
}).meta({ title: "DecidedApproval" });

function decisionRoute(app: App, http: Http): void {
  const deciding = {
    ...BASE_SCHEMA,
    summary: "Approve or reject",
    description:
      "Repeating a decision as the same person or key returns the approval again. An `Idempotency-Key` with another body is refused.",
    params: z.object({ approval_id: z.string() }),
    body: DecisionBody,
    response: { 200: DecidedApproval },
  };
  app.post(
    "/approvals/:approval_id/decision",
    { onRequest: requireCredential(http), schema: deciding },
    async (request) => {
      const row = await decide(http, request, request.params.approval_id, request.body);
      const run = row.run_id === null ? null : await requireRun(http, request.caller, row.run_id);
      return { ...presentApproval(row, await findReader(http, request.caller)), run_status: run && run.status };
    },
  );
}
