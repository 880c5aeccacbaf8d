import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid, streamOf } from "#events/ids.ts";
import { DecideApproval } from "#events/run.ts";
import { getApproval, type ApprovalRow } from "#projections/runs/approvals.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { schemaCheck } from "./jsonSchema.ts";
import { actorOf, isInReach } from "./reach.ts";

const MAX_DATA = 64 * 1024;
const Decision = z.enum(["approve", "reject"]);
type Decision = z.infer<typeof Decision>;

export const Deciding = z
  .object({
    decision: Decision,
    approved: z.boolean().describe("In place of `decision`."),
    data: z.unknown().describe("What the form asks for."),
    comment: z.string().max(4_000).nullable(),
  })
  .partial();

/** Throws 400 `invalid_decision` for none, or for two that differ. */
export function decisionOf({ decision, approved }: z.infer<typeof Deciding>): Decision {
  const meant = approved === undefined ? decision : approved ? "approve" : "reject";
  if (meant === undefined || (decision !== undefined && decision !== meant))
    throw new ApiError("invalid_decision", 'decision: must be "approve" or "reject".', { param: "decision" });
  return meant;
}

const notFound = () => new ApiError("approval_not_found", "No approval has this id.", { param: "approval_id" });
const notPending = () => new ApiError("approval_not_pending", "This approval is not pending any more.");
const notAllowed = (message: string) => new ApiError("approver_not_allowed", message);

/** An approval in the caller's reach, as it stands now. Throws 404 `approval_not_found`. */
async function findApproval({ db, freshRead }: Http, caller: Caller, id: string): Promise<ApprovalRow> {
  if (!isUuid(id)) throw notFound();
  const find = () => getApproval(db, caller.organization_id, id);
  /** One that a run has asked for, or somebody has decided, a moment ago. */
  const findAnew = async (known: ApprovalRow | undefined) => {
    await freshRead(["runs"], known && streamOf("run", known.run_id));
    return find();
  };
  const found = await find();
  const row = (found?.isFresh ? found : await findAnew(found?.row))?.row;
  if (!row || !isInReach(caller, row.project_id)) throw notFound();
  return row;
}

const DECIDING = ["owner", "admin", "builder", "approver"];
export const mayDecide = (role: string): boolean => DECIDING.includes(role);

/** Throws 403 `approver_not_allowed`. Roles and terms are looked at now, whatever they were when it was asked. */
function checkAllowed({ session, principal }: Caller, row: ApprovalRow): void {
  const { assignees, allow_api_key, self_approval, started_by } = row;
  const me = session?.user_id ?? principal.slice("key:".length);
  if (!self_approval && started_by.id === me) throw notAllowed("Whoever started the run may not decide this approval.");
  if (!session) {
    if (!allow_api_key) throw notAllowed("An API key may not decide this approval: sign in.");
    return;
  }
  if (!mayDecide(session.role)) throw notAllowed("Only an approver or more may decide approvals.");
  const names = [session.user_id, session.email.toLowerCase()];
  const isMine = assignees.some((assignee) => {
    if ("person" in assignee) return names.includes(assignee.person.toLowerCase());
    return "role" in assignee && assignee.role.toLowerCase() === session.role;
  });
  if (assignees.length > 0 && !isMine) throw notAllowed("This approval is for others to decide.");
}

/** The data of a decision as JSON. Throws 400 `invalid_data` where it does not fit the form; a rejection needs none. */
function dataOf({ form }: ApprovalRow, decision: Decision, data: unknown): string | null {
  const json = data === undefined || data === null ? null : JSON.stringify(data);
  if (json !== null && Buffer.byteLength(json) > MAX_DATA)
    throw new ApiError("invalid_data", `data: may have ${MAX_DATA} bytes at most.`, { param: "data" });
  if (form === null || (json === null && decision === "reject")) return json;
  const misfit = schemaCheck(form)(data ?? {});
  if (!misfit) return json;
  const message = `data${misfit.pointer}: ${misfit.message}.`.replace(/\.\.$/, ".");
  throw new ApiError("invalid_data", message, { param: `/data${misfit.pointer}` });
}

/** The same decision by the same one, once more. Throws 409 `approval_not_pending` for any other. */
function again(row: ApprovalRow, caller: Caller, decision: Decision): ApprovalRow {
  const { type, id } = actorOf(caller);
  if (row.decision === decision && row.decided_by?.type === type && row.decided_by.id === id) return row;
  throw notPending();
}

/** Decides an approval; of many who try at once, one does. */
export async function decide(
  http: Http,
  request: FastifyRequest,
  id: string,
  body: z.infer<typeof Deciding>,
): Promise<ApprovalRow> {
  const { caller } = request;
  const decision = decisionOf(body);
  const row = await findApproval(http, caller, id);
  checkAllowed(caller, row);
  if (row.status !== "pending") return again(row, caller, decision);
  const data = dataOf(row, decision, body.data);
  try {
    await http.send(DecideApproval, {
      stream: streamOf("run", row.run_id),
      organization_id: caller.organization_id,
      principal: caller.principal,
      request_id: request.id,
      data: {
        run_id: row.run_id,
        approval_id: row.id,
        decision,
        by: actorOf(caller),
        data,
        comment: body.comment ?? null,
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== "approval_not_pending") throw error;
  }
  return again(await findApproval(http, caller, row.id), caller, decision);
}
