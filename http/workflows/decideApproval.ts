import { isDeepStrictEqual } from "node:util";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
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
import { isObject } from "#events/json.ts";
import { identifyPost, previousOutcome } from "../base/idempotency.ts";
import { actorFrom } from "./access.ts";
import { absentDelegates, findReader, requireRight } from "./approvers.ts";
import { filesField, readOwnFiles } from "./ownFiles.ts";
import { violationMessage } from "#events/violationMessage.ts";

/** Bytes of JSON: the data is part of a command, which may have 256 KiB. */
const MAX_DATA_BYTES = 64 * 1024;
const Decision = z.enum(["approve", "reject"]);
type Decision = z.infer<typeof Decision>;

export const DecisionBody = z
  .object({
    decision: Decision,
    approved: z.boolean().describe("Can be sent instead of `decision`."),
    data: z.unknown().describe("The data that the form asks for."),
    comment: z.string().max(4_000).nullable(),
    files: RunFiles.describe(
      "Ids of files that you have uploaded to the chat API's /files. Steps of the run may read them, and everybody who can read the run.",
    ),
  })
  .partial();

type DecisionFields = z.infer<typeof DecisionBody>;

/** Throws 400 `invalid_decision` without a decision, and for two that differ. */
export function readDecision({ decision, approved }: DecisionFields): Decision {
  const chosen = approved === undefined ? decision : approved ? "approve" : "reject";
  if (chosen === undefined || (decision !== undefined && decision !== chosen))
    throw new ApiError("invalid_decision", 'decision: must be "approve" or "reject".', { param: "decision" });
  return chosen;
}

const notFound = () => new ApiError("approval_not_found", "No approval has this id.", { param: "approval_id" });
export const notPending = () => new ApiError("approval_not_pending", "This approval is no longer pending.");

export const noFiles = (why: string) => new ApiError("invalid_files", `files: ${why}`, { param: "files" });

/** The current row of an approval that the caller can access. Throws 404 `approval_not_found`. */
export async function requireApproval({ db, freshRead }: Http, caller: Caller, id: string): Promise<ApprovalRow> {
  if (!isUuid(id)) throw notFound();
  const find = () => getApproval(db, caller.organization_id, id);
  /** The run may have asked for it, or someone may have decided it, a moment ago. */
  const findAfterWait = async (known: ApprovalRow | undefined) => {
    await freshRead(["runs"], known && streamOf(known));
    return find();
  };
  const found = await find();
  const row = (found?.isFresh ? found : await findAfterWait(found?.row))?.row;
  if (!row || !reachesProject(caller, row.project_id) || !mayRead(caller, row)) throw notFound();
  return row;
}

/** Of what runs ask for, and agents' tools do not have. Throws 404 `approval_not_found`, 409 `approval_has_no_run`. */
export async function requireRunApproval(http: Http, caller: Caller, id: string) {
  const approval = await requireApproval(http, caller, id);
  if (approval.run_id !== null) return { approval, run_id: approval.run_id };
  throw new ApiError("approval_has_no_run", "This is for approvals that runs ask for, not for tools of agents.");
}

/** The stream that decides an approval. */
export const streamOf = ({ run_id, call }: Pick<ApprovalRow, "run_id" | "call">): string =>
  call ? streamName("thread", call.thread_id) : streamName("run", run_id!);

/** What somebody said to an agent is read by those who may decide, and by who said it. */
function mayRead(caller: Caller, { call, asked_by, allow_api_key }: ApprovalRow): boolean {
  if (!call) return true;
  const { type, id } = actorFrom(caller);
  const isAsker = asked_by.type === type && asked_by.id === id;
  return isAsker || (caller.session ? mayDecide(caller.session.role) : allow_api_key);
}

/** Fields that were not sent get the `default` of the form. */
function withDefaults(form: ApprovalRow["form"], data: unknown): unknown {
  const { properties } = form ?? {};
  if (!isObject(properties) || !(data === undefined || data === null || isObject(data))) return data;
  const missing = Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) && Object.hasOwn(field, "default") && !(data && Object.hasOwn(data, name))
      ? [[name, field["default"]] as const]
      : [],
  );
  return missing.length === 0 ? data : { ...data, ...Object.fromEntries(missing) };
}

/** The data of a decision as JSON, with the defaults of the form; null without any. */
function toJson({ form }: ApprovalRow, decision: Decision, data: unknown): string | null {
  const filled = decision === "approve" ? withDefaults(form, data) : data;
  return filled === undefined || filled === null ? null : JSON.stringify(filled);
}

/** The data of a decision as JSON; a rejection needs none. Throws 400 `invalid_data` for data that does not fit the form. */
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

/** The vote or the decision of the caller. Throws 409 `already_voted` for a vote the other way. */
function ownDecision(row: ApprovalRow, caller: Caller, decision: Decision): RecordedVote | undefined {
  const { type, id } = actorFrom(caller);
  const isCaller = (by: { type: string; id: string } | null) => by?.type === type && by.id === id;
  const vote = row.votes.find(({ by }) => isCaller(by));
  if (vote && vote.decision !== decision)
    throw new ApiError("already_voted", "You have voted on this approval; a vote cannot be changed.");
  return vote ?? (row.decision === decision && isCaller(row.decided_by) ? row : undefined);
}

/** What a repetition says otherwise than the first request did. It may leave out what the first one said. */
function changedField(row: ApprovalRow, recorded: RecordedVote, decision: Decision, body: DecisionFields) {
  // an approval of a tool call takes no data
  const json = row.call || body.data == null ? null : toJson(row, decision, body.data);
  if (json !== null && !isDeepStrictEqual(JSON.parse(json), recorded.data)) return "data";
  if (body.comment && body.comment !== recorded.comment) return "comment";
  const handed = new Set(recorded.files.map(({ file_id }) => file_id));
  return body.files?.some((id) => !handed.has(id.toLowerCase())) ? "files" : undefined;
}

/**
 * The approval that the caller has decided, or voted on, in this way; undefined when the caller may still decide. Throws 409
 * `approval_not_pending` for any other decision, and for a repetition that would lose what it says: it changes nothing.
 */
function findRepeated(
  row: ApprovalRow,
  caller: Caller,
  decision: Decision,
  body: DecisionFields,
): ApprovalRow | undefined {
  const recorded = ownDecision(row, caller, decision);
  if (!recorded && row.status !== "pending") throw notPending();
  if (!recorded) return undefined;
  const param = changedField(row, recorded, decision, body);
  if (param === undefined) return row;
  const message = `${param}: you have decided this already, with another value or none; a decision cannot be changed.`;
  throw new ApiError(row.status === "pending" ? "already_voted" : "approval_not_pending", message, { param });
}

/** Decides an approval. Of several decisions at the same moment one succeeds. */
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
  // throws when the key was used for another decision
  await previousOutcome(http, identity);
  const repeated = findRepeated(row, caller, decision, body);
  if (repeated) return repeated;
  const data = await encodeData(http, caller, row, decision, body.data);
  if (row.call && body.files?.length) throw noFiles("an approval of a tool call takes none; send them to the agent.");
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
  if (!recorded) throw notPending();
  return recorded;
}
