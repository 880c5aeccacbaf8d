import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { DecideApproval } from "#events/run.ts";
import { findApprovalLink, type ApprovalLinkRow } from "#projections/runs/approvalLinks.ts";
import { getApproval, type ApprovalRow } from "#projections/runs/approvals.ts";
import { findUserById } from "#projections/users/query.ts";
import { BEARER, matchesHash } from "../auth/bearer.ts";
import { countWrongLink } from "../auth/throttle.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";
import { requireFinalLogRoom } from "../base/storageLimits.ts";
import { LinkedApproval, linkStatus, LinkOutcome } from "./approvalLinkShape.ts";
import { absentDelegates, checkOwnRight } from "./approvers.ts";
import { isAttached, sendAttachment } from "./attachments.ts";
import { DecisionBody, encodeData, invalidFiles, readDecision } from "./decideApproval.ts";

export const linkNotFound = () =>
  new ApiError("approval_link_not_found", "There is no such link.", { param: "link_id" });
const ended = (message: string) => new ApiError("approval_link_ended", message, { param: "link_id" });

interface OpenLink {
  link: ApprovalLinkRow;
  approval: ApprovalRow;
}

/** Finds the link of a request by its secret. Wrong secrets get the same 404 as missing links, and 429 after many attempts. */
async function requireSecret(http: Http, request: FastifyRequest): Promise<ApprovalLinkRow> {
  const { link_id } = request.params as { link_id: string };
  const secret = BEARER.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const link = await findOrWait(
    () => findApprovalLink(http.db, link_id),
    () => http.waitUntilCurrent(["runs"]),
  );
  if (!link || !matchesHash(secret, link.secret_hash)) {
    await countWrongLink(http.loginAttempts, request.ip);
    throw linkNotFound();
  }
  return link;
}

/** Finds the link of a request and its approval. Throws the errors of `requireSecret`. */
const requireLink = async (http: Http, request: FastifyRequest): Promise<OpenLink> =>
  readLink(http, await requireSecret(http, request));

/** Reads the current link and approval. */
async function readLink(http: Http, { id, organization_id, run_id, approval_id }: ApprovalLinkRow): Promise<OpenLink> {
  await http.waitUntilCurrent(["runs"], streamName("run", run_id));
  const [link, approval] = [
    await findApprovalLink(http.db, id),
    await getApproval(http.db, organization_id, approval_id),
  ];
  if (!link || !approval) throw linkNotFound();
  return { link, approval: approval.row };
}

/** Explains why a link can no longer decide. */
function explainEnd({ link, approval }: OpenLink): string {
  const word = { approve: "approved", reject: "rejected" };
  if (link.used_at && link.decision)
    return `This link was used at ${link.used_at.toISOString()}: its holder ${word[link.decision]}.`;
  if (link.revoked_at) return "This link was revoked.";
  switch (approval.status) {
    case "pending":
      return "This link has expired.";
    case "expired":
      return "The approval has expired without a decision.";
    case "cancelled":
      return "The approval was cancelled together with its run.";
    default:
      return `Somebody else has ${approval.status} it.`;
  }
}

/** Throws 410 `approval_link_ended`, also if the link's creator may no longer decide. */
async function checkUsable(http: Http, open: OpenLink): Promise<void> {
  const { link, approval } = open;
  if (linkStatus(link, approval) !== "active") throw ended(explainEnd(open));
  const person = await findUserById(http.db, link.created_by.id);
  const withdrawn = ended("The person who created this link may not decide this approval any more.");
  if (person?.organization_id !== link.organization_id) throw withdrawn;
  const { id: user_id, email, role } = person;
  await checkOwnRight(http, link.organization_id, { user_id, email, role }, approval).catch((error: unknown) => {
    throw error instanceof ApiError && error.errorCode === "approver_not_allowed" ? withdrawn : error;
  });
}

async function decideByLink(http: Http, request: FastifyRequest, body: z.infer<typeof DecisionBody>) {
  const decision = readDecision(body);
  if (body.files?.length) throw invalidFiles("somebody with a link has uploaded none.");
  const { link, approval } = await requireLink(http, request);
  await checkUsable(http, { link, approval });
  requireFinalLogRoom(http, link.organization_id);
  const data = await encodeData(http, link, approval, decision, body.data);
  try {
    await http.send(DecideApproval, {
      stream: streamName("run", link.run_id),
      organization_id: link.organization_id,
      principal: `link:${link.id}`,
      request_id: request.id,
      data: {
        run_id: link.run_id,
        approval_id: link.approval_id,
        decision,
        by: { type: "link", id: link.id },
        data,
        comment: body.comment ?? null,
        ...absentDelegates(approval),
      },
    });
  } catch (error) {
    const lost =
      error instanceof ApiError && ["approval_not_pending", "approval_link_ended"].includes(error.errorCode!);
    throw lost ? ended(explainEnd(await readLink(http, link))) : error;
  }
  return { status: (await readLink(http, link)).approval.status, decision };
}

/** The routes for the holder of a link, who can read one approval and decide it once. The secret is sent in a header, never in a URL. */
export function linkedApprovalRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Workflows"], security: [{ link: [] }], params: z.object({ link_id: z.string() }) };

  const reading = { ...baseSchema, summary: "Read the approval of a link", response: { 200: LinkedApproval } };
  app.get("/approval-links/:link_id", { schema: reading }, async (request, reply) => {
    const open = await requireLink(http, request);
    await checkUsable(http, open);
    const { title, body, form, attachments, expires_at } = open.approval;
    void reply.header("cache-control", "no-store");
    const end = Math.min(expires_at.getTime(), open.link.expires_at.getTime());
    return { title, body, form, attachments, expires_at: new Date(end).toISOString(), for: { name: open.link.name } };
  });

  const downloading = {
    ...baseSchema,
    summary: "The bytes of a file that the approval of a link shows",
    params: z.object({ link_id: z.string(), file_id: z.string() }),
  };
  app.get("/approval-links/:link_id/attachments/:file_id", { schema: downloading }, async (request, reply) => {
    const open = await requireLink(http, request);
    await checkUsable(http, open);
    void reply.header("cache-control", "no-store");
    const { file_id: id } = request.params;
    const file = { id, isShown: isAttached(open.approval, id) };
    await sendAttachment(http, request, reply, open.link.organization_id, file);
    return reply;
  });

  const deciding = {
    ...baseSchema,
    summary: "Decide by a link",
    description: "Uses the link up. Opening it decides nothing.",
    body: DecisionBody,
    response: { 200: LinkOutcome },
  };
  // the secret is checked before the body is read
  const onRequest = async (request: FastifyRequest): Promise<void> => void (await requireSecret(http, request));
  app.post("/approval-links/:link_id/decision", { onRequest, schema: deciding }, async (request) =>
    decideByLink(http, request, request.body),
  );
}
