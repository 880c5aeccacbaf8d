import { isDeepStrictEqual } from "node:util";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { withFormDefaults } from "#events/formDefaults.ts";
import { isUuid, streamName } from "#events/ids.ts";
import { DecideApproval } from "#events/run.ts";
import { RunFiles } from "#events/runOrigin.ts";
import { DecideToolApproval } from "#events/threadApprovals.ts";
import type { VoteRow } from "#projections/runs/approvalRows.ts";
import { getApproval, type ApprovalRow } from "#projections/runs/approvals.ts";
import { mayDecide } from "../auth/authenticate.ts";
import { reachesProject, type Caller } from "../base/caller.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { requireExact } from "../base/exactNumbers.ts";
import { identifyPost, findPreviousOutcome } from "../base/idempotency.ts";
import { actorFrom } from "./actor.ts";
import { absentDelegates, findReader, requireRight } from "./approvers.ts";
import { filesField, readOwnFiles } from "./ownFiles.ts";
import { violationMessage } from "#events/violationMessage.ts";

/** Maximum bytes of JSON. The data is part of a command, whose limit is 256 KiB. */
const MAX_DATA_BYTES = 64 * 1024;
const Decision = z.enum(["approve", "reject"]);
type Decision = z.infer<typeof Decision>;

export const DecisionBody = z
  .object({
    decision: Decision.nullable(),
    approved: z.boolean().nullable().describe("Can be sent instead of `decision`."),
    data: z.unknown().describe("The data that the form asks for."),
    comment: z.string().max(4_000).nullable(),
    files: RunFiles.nullable().describe(
      "Ids of files that you have uploaded to the chat API's /files. The steps of the run may read them, and so may everybody who can read the run.",
    ),
  })
  .partial();

type DecisionFields = z.infer<typeof DecisionBody>;

/** Throws 400 `invalid_decision` if the decision is missing or contradictory. */
export function readDecision({ decision, approved }: DecisionFields): Decision {
  const byFlag = approved ? "approve" : "reject";
  const chosen = approved == null ? decision : byFlag;
  if (chosen && (decision == null || decision === chosen)) return chosen;
  throw new ApiError("invalid_decision", 'decision: must be "approve" or "reject".', { param: "decision" });
}

const notFound = () => new ApiError("approval_not_found", "No approval has this id.", { param: "approval_id" });
export const approvalNotPending = () => new ApiError("approval_not_pending", "This approval is no longer pending.");

export const invalidFiles = (why: string) => new ApiError("invalid_files", `files: ${why}`, { param: "files" });

/** The current row of an approval that the caller can access. Throws 404 `approval_not_found`. */
export async function requireApproval(
  { db, waitUntilCurrent }: Http,
  caller: Caller,
  id: string,
): Promise<ApprovalRow> {
  if (!isUuid(id)) throw notFound();
  const find = () => getApproval(db, caller.organization_id, id);
  /** A row that is missing or not fresh may have changed a moment ago. */
  const findAfterWait = async (known: ApprovalRow | undefined) => {
    await waitUntilCurrent(["runs"], known && streamOf(known));
    return find();
  };
  const found = await find();
  const row = (found?.isFresh ? found : await findAfterWait(found?.row))?.row;
  if (!row || !reachesProject(caller, row.project_id) || !mayRead(caller, row)) throw notFound();
  return row;
}

/** Finds an approval that a run requested. Throws 404 `approval_not_found`, and 409 `approval_has_no_run` for an agent's tool call. */
export async function requireRunApproval(http: Http, caller: Caller, id: string) {
  const approval = await requireApproval(http, caller, id);
  if (approval.run_id !== null) return { approval, run_id: approval.run_id };
  throw new ApiError(
    "approval_has_no_run",
    "This approval belongs to a tool call of an agent; only approvals of runs allow this.",
  );
}

/** The stream that records the decision of an approval. */
export const streamOf = ({ run_id, call }: Pick<ApprovalRow, "run_id" | "call">): string =>
  call ? streamName("thread", call.thread_id) : streamName("run", run_id!);

/** An approval of an agent's tool call shows what somebody said to the agent, so only that person and those who may decide can read it. */
function mayRead(caller: Caller, { call, asked_by, allow_api_key }: ApprovalRow): boolean {
  if (!call) return true;
  const { type, id } = actorFrom(caller);
  const isAsker = asked_by.type === type && asked_by.id === id;
  return isAsker || (caller.session ? mayDecide(caller.session.role) : allow_api_key);
}

/** The decision's data as JSON, including the form's defaults; null if there is none. */
function toJson({ form }: ApprovalRow, decision: Decision, data: unknown): string | null {
  const filled = decision === "approve" ? withFormDefaults(form, data) : data;
  return filled === undefined || filled === null ? null : JSON.stringify(filled);
}

/** Encodes the decision's data as JSON; a rejection needs none. Throws 400 `invalid_data` if the data does not fit the form. */
export async function encodeData(
  { schemas }: Pick<Http, "schemas">,
  { organization_id }: Pick<Caller, "organization_id">,
  approval: ApprovalRow,
  decision: Decision,
  data: unknown,
): Promise<string | null> {
  requireExact(data, "data", "invalid_data");
  const { form } = approval;
  const json = toJson(approval, decision, data);
  if (json !== null && Buffer.byteLength(json) > MAX_DATA_BYTES)
    throw new ApiError("invalid_data", `data: must have ${MAX_DATA_BYTES} bytes at most.`, { param: "data" });
  if (form === null || (json === null && decision === "reject")) return json;
  const violation = await schemas.check(organization_id, form, json === null ? {} : JSON.parse(json));
  if (!violation) return json;
  const message = violationMessage(`data${violation.pointer}`, violation);
  throw new ApiError("invalid_data", message, { param: `/data${violation.pointer}` });
}

type RecordedVote = Pick<VoteRow, "data" | "comment" | "files">;

/** The caller's recorded vote or decision. Throws 409 `already_voted` if it is the opposite one. */
function ownDecision(row: ApprovalRow, caller: Caller, decision: Decision): RecordedVote | undefined {
  const { type, id } = actorFrom(caller);
  const isCaller = (by: { type: string; id: string } | null) => by?.type === type && by.id === id;
  const vote = row.votes.find(({ by }) => isCaller(by));
  if (vote && vote.decision !== decision)
    throw new ApiError("already_voted", "You have voted on this approval; a vote cannot be changed.");
  return vote ?? (row.decision === decision && isCaller(row.decided_by) ? row : undefined);
}

/** The first field in which a repetition differs from the recorded decision. A repetition may leave fields out. */
function changedField(row: ApprovalRow, recorded: RecordedVote, decision: Decision, body: DecisionFields) {
  // an approval of a tool call takes no data
  const json = row.call || body.data == null ? null : toJson(row, decision, body.data);
  if (json !== null && !isDeepStrictEqual(JSON.parse(json), recorded.data)) return "data";
  if (body.comment && body.comment !== recorded.comment) return "comment";
  const handed = new Set(recorded.files.map(({ file_id }) => file_id));
  return body.files?.some((id) => !handed.has(id.toLowerCase())) ? "files" : undefined;
}

/**
 * Finds the recorded decision or vote that this request repeats; undefined if the caller may still decide. Throws 409
 * `approval_not_pending` or `already_voted` if it differs from the recorded one, because a decision cannot be changed.
 */
function findRepeated(
  row: ApprovalRow,
  caller: Caller,
  decision: Decision,
  body: DecisionFields,
): ApprovalRow | undefined {
  const recorded = ownDecision(row, caller, decision);
  if (!recorded && row.status !== "pending") throw approvalNotPending();
  if (!recorded) return undefined;
  const param = changedField(row, recorded, decision, body);
  if (param === undefined) return row;
  const message = `${param}: you have decided this already, with another value or none; a decision cannot be changed.`;
  throw new ApiError(row.status === "pending" ? "already_voted" : "approval_not_pending", message, { param });
}

/** Decides an approval. Only one of several concurrent decisions succeeds. */
export async function decide(
  http: Http,
  request: FastifyRequest,
  id: string,
  body: DecisionFields,
): Promise<ApprovalRow> {
  const { caller } = request;
  const decision = readDecision(body);
  const identity = identifyPost(request, `/api/workflows/approvals/${id.toLowerCase()}/decision`);
  const row = await requireApproval(http, caller, id);
  const in_place_of = requireRight(await findReader(http, caller), row);
  // throws if the key was used for another decision
  await findPreviousOutcome(http, identity);
  const repeated = findRepeated(row, caller, decision, body);
  if (repeated) return repeated;
  const data = await encodeData(http, caller, row, decision, body.data);
  if (row.call && body.files?.length)
    throw invalidFiles("an approval of a tool call takes none; send them to the agent.");
  const files = await readOwnFiles(http, caller, body.files);
  const fields = { ...commandFields(request, streamOf(row)), ...identity };
  const right = { by: actorFrom(caller), ...(in_place_of && { in_place_of }) };
  const decided = { approval_id: row.id, decision, ...right, comment: body.comment ?? null };
  try {
    if (row.call) await http.send(DecideToolApproval, { ...fields, data: { turn_id: row.call.turn_id, ...decided } });
    else
      await http.send(DecideApproval, {
        ...fields,
        data: { run_id: row.run_id!, ...decided, data, ...filesField(files), ...absentDelegates(row) },
      });
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== "approval_not_pending") throw error;
  }
  const recorded = findRepeated(await requireApproval(http, caller, row.id), caller, decision, body);
  if (!recorded) throw approvalNotPending();
  return recorded;
}
