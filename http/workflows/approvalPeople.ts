import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { CommentOnApproval, DelegateApproval, MAX_COMMENT, MAX_REASON } from "#events/approvalPeople.ts";
import { deriveId, streamName } from "#events/ids.ts";
import { RunFiles } from "#events/runOrigin.ts";
import { listComments, type CommentRow } from "#projections/runs/approvalPeople.ts";
import { getMember } from "#projections/users/query.ts";
import { mayDecide, requireCredential, requireRunner } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost, findPreviousOutcome } from "../base/idempotency.ts";
import { actorFrom } from "./actor.ts";
import { Approval, Attachment, presentApproval } from "./approvalShape.ts";
import { absentDelegates, checkOwnRight, findReader, isAssignedNow, isExcluded } from "./approvers.ts";
import { approvalNotPending, requireApproval, requireRunApproval } from "./decideApproval.ts";
import { filesField, readOwnFiles } from "./ownFiles.ts";

const Delegation = z.object({
  to: z.uuid().toLowerCase().describe("Id of a member whose role may decide approvals, and who is not asked yet."),
  reason: z.string().trim().min(1).max(MAX_REASON),
});
const NewComment = z.object({
  text: z.string().trim().min(1).max(MAX_COMMENT),
  files: RunFiles.optional().describe(
    "Ids of files that you have uploaded to the chat API's /files. Everybody who can read the run can read them.",
  ),
});
const Comment = z
  .object({
    id: z.string(),
    by: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
    text: z.string(),
    files: z.array(Attachment),
    at: z.iso.datetime(),
  })
  .meta({ title: "ApprovalComment" });

const presentComment = ({ at, ...comment }: CommentRow): z.infer<typeof Comment> => ({
  ...comment,
  at: at.toISOString(),
});

const BASE_SCHEMA = { tags: ["Workflows"], params: z.object({ approval_id: z.string() }) };

/** Throws 400 `invalid_delegate`. */
async function checkDelegate(
  http: Http,
  organization_id: string,
  to: string,
  row: Awaited<ReturnType<typeof requireApproval>>,
) {
  const refuse = (why: string) => new ApiError("invalid_delegate", `to: ${why}`, { param: "to" });
  await http.waitUntilCurrent(["users"], streamName("organization", organization_id));
  const member = await getMember(http.db, organization_id, to);
  if (!member?.active) throw refuse("must be an active member of the organization.");
  if (!mayDecide(member.role)) throw refuse("has a role that may not decide approvals.");
  if (isExcluded(row, to)) throw refuse("started the run, or set its trigger, and may not decide.");
  if (await isAssignedNow(http, organization_id, { ...member, user_id: to }, row))
    throw refuse("may decide this approval already.");
}

/** Delegates an approval: the other person may decide it, and the caller no longer may. */
async function delegate(http: Http, request: FastifyRequest, id: string, body: z.infer<typeof Delegation>) {
  const { caller } = request;
  const { organization_id, session } = caller;
  const { approval, run_id } = await requireRunApproval(http, caller, id);
  const identity = identifyPost(request, `/api/workflows/approvals/${approval.id}/delegate`);
  const by = actorFrom(caller);
  const isRepeated = (await findPreviousOutcome(http, identity)) !== undefined;
  if (!isRepeated) {
    await checkOwnRight(http, organization_id, session!, approval);
    if (approval.status !== "pending") throw approvalNotPending();
    if (body.to === by.id) throw new ApiError("invalid_delegate", "to: must be somebody else.", { param: "to" });
    await checkDelegate(http, organization_id, body.to, approval);
  }
  const fields = { ...commandFields(request, streamName("run", run_id), ["runs"]), ...identity };
  await http.send(DelegateApproval, {
    ...fields,
    data: { run_id, approval_id: approval.id, by, ...body, ...absentDelegates(approval) },
  });
  return presentApproval(await requireApproval(http, caller, approval.id), await findReader(http, caller));
}

async function comment(http: Http, request: FastifyRequest, id: string, body: z.infer<typeof NewComment>) {
  const { caller } = request;
  const { approval, run_id } = await requireRunApproval(http, caller, id);
  const identity = identifyPost(request, `/api/workflows/approvals/${approval.id}/comments`);
  // derived, so that a repeated request gets the same comment
  const comment_id = deriveId("approval-comment", identity.id);
  const by = actorFrom(caller);
  // not checked for a repeated request, whose files may be deleted by now
  const files = (await findPreviousOutcome(http, identity)) ? [] : await readOwnFiles(http, caller, body.files);
  const comment = { run_id, approval_id: approval.id, comment_id, by, text: body.text, ...filesField(files) };
  const fields = { ...commandFields(request, streamName("run", run_id), ["runs"]), ...identity };
  await http.send(CommentOnApproval, { ...fields, data: comment });
  await http.waitUntilCurrent(["runs"], streamName("run", run_id));
  const made = (await listComments(http.db, approval.id)).find((one) => one.id === comment_id);
  const author = { ...by, name: caller.session!.name };
  return presentComment(
    made ?? { id: comment_id, by: author, text: body.text, files: [], at: new Date(currentTime()) },
  );
}

/** Everything that people do with an approval except deciding it. */
export function approvalPeopleRoutes(app: App, http: Http): void {
  const onRequest = requireRunner(http);
  const ofPeople = { ...BASE_SCHEMA, security: [{ session: [] }] };

  const delegating = {
    ...ofPeople,
    summary: "Delegate an approval to another member",
    description: "Hands it on, with a reason that stays visible. The caller may then no longer decide it.",
    body: Delegation,
    response: { 200: Approval },
  };
  app.post("/approvals/:approval_id/delegate", { onRequest, schema: delegating }, (request) =>
    delegate(http, request, request.params.approval_id, request.body),
  );

  const commenting = {
    ...ofPeople,
    summary: "Comment on a pending approval without deciding it",
    body: NewComment,
    response: { 201: Comment },
  };
  app.post("/approvals/:approval_id/comments", { onRequest, schema: commenting }, async (request, reply) =>
    reply.code(201).send(await comment(http, request, request.params.approval_id, request.body)),
  );

  const listing = {
    ...BASE_SCHEMA,
    security: [{ key: [] }],
    summary: "List the comments on an approval, oldest first",
    response: { 200: z.object({ data: z.array(Comment) }) },
  };
  app.get(
    "/approvals/:approval_id/comments",
    { onRequest: requireCredential(http), schema: listing },
    async ({ caller, params }) => {
      const { approval, run_id } = await requireRunApproval(http, caller, params.approval_id);
      await http.waitUntilCurrent(["runs"], streamName("run", run_id));
      return { data: (await listComments(http.db, approval.id)).map(presentComment) };
    },
  );
}
