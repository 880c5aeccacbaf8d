import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { CreateApprovalLink, RevokeApprovalLink } from "#events/approvalLinks.ts";
import { newId, streamName } from "#events/ids.ts";
import { findApprovalLink, listApprovalLinks } from "#projections/runs/approvalLinks.ts";
import { requireSession } from "../auth/authenticate.ts";
import { newSecret } from "../auth/secrets.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { actorFrom } from "./actor.ts";
import { ApprovalLink, DEFAULT_LIFE, NewLink, NewLinkBody, presentLink } from "./approvalLinkShape.ts";
import { hasVoted } from "./approvalShape.ts";
import { checkOwnRight } from "./approvers.ts";
import { approvalNotPending, requireRunApproval } from "./decideApproval.ts";
import { linkNotFound } from "./linkedApproval.ts";

/** The secret is in the fragment, which browsers never send to a server. */
const linkUrl = ({ settings }: Http, id: string, secret: string): string =>
  `${settings.BASE_URL}/console/approve/${id}#${secret}`;

/** A link grants the right to decide, so its creator must have that right. */
async function createLink(http: Http, request: FastifyRequest, approval_id: string, body: z.infer<typeof NewLinkBody>) {
  const { caller } = request;
  const { approval, run_id } = await requireRunApproval(http, caller, approval_id);
  await checkOwnRight(http, caller.organization_id, caller.session!, approval);
  if (approval.status !== "pending") throw approvalNotPending();
  if (hasVoted(approval, caller.session!.user_id))
    throw new ApiError("already_voted", "You have voted on this approval, and a link has its creator's vote.");
  const { expires_in = DEFAULT_LIFE, for: recipient = {} } = body ?? {};
  const expires_at = new Date(
    Math.min(currentTime() + expires_in * 1_000, approval.expires_at.getTime()),
  ).toISOString();
  const link_id = newId();
  const { secret, hash: secret_hash } = newSecret("link", http.settings.SERVICE_NAME);
  await http.send(CreateApprovalLink, {
    ...commandFields(request, streamName("run", run_id), ["runs"]),
    data: {
      run_id,
      approval_id: approval.id,
      link_id,
      created_by: actorFrom(caller),
      expires_at,
      secret_hash,
      name: recipient.name ?? null,
      email: recipient.email ?? null,
    },
  });
  return { id: link_id, url: linkUrl(http, link_id, secret), expires_at };
}

/** Allowed for the link's creator, and for anybody who may decide the approval. */
async function revokeLink(http: Http, request: FastifyRequest, params: { approval_id: string; link_id: string }) {
  const { caller } = request;
  const { organization_id, session } = caller;
  const { approval, run_id } = await requireRunApproval(http, caller, params.approval_id);
  await http.waitUntilCurrent(["runs"], streamName("run", run_id));
  const link = await findApprovalLink(http.db, params.link_id);
  if (link?.approval_id !== approval.id) throw linkNotFound();
  if (link.created_by.id !== session!.user_id) await checkOwnRight(http, organization_id, session!, approval);
  await http.send(RevokeApprovalLink, {
    ...commandFields(request, streamName("run", run_id), ["runs"]),
    requireProjected: true,
    data: { run_id, approval_id: approval.id, link_id: link.id, by: actorFrom(caller) },
  });
}

/** Links with which people without an account decide an approval. */
export function approvalLinkRoutes(app: App, http: Http): void {
  const onRequest = requireSession(http);
  const baseSchema = { tags: ["Workflows"], security: [{ session: [] }] };
  const approval = z.object({ approval_id: z.string() });

  const creating = {
    ...baseSchema,
    summary: "Create a link for somebody without an account",
    description:
      "The bearer of the link decides once, in place of the person who created it and only as long as that person may decide.",
    params: approval,
    body: NewLinkBody,
    response: { 201: NewLink },
  };
  app.post("/approvals/:approval_id/links", { onRequest, schema: creating }, async (request, reply) => {
    const created = await createLink(http, request, request.params.approval_id, request.body);
    return reply.code(201).header("cache-control", "no-store").send(created);
  });

  const listing = {
    ...baseSchema,
    summary: "List the links to an approval",
    params: approval,
    response: { 200: z.object({ data: z.array(ApprovalLink) }) },
  };
  app.get("/approvals/:approval_id/links", { onRequest, schema: listing }, async ({ caller, params }) => {
    const { approval: row, run_id } = await requireRunApproval(http, caller, params.approval_id);
    await http.waitUntilCurrent(["runs"], streamName("run", run_id));
    const links = await listApprovalLinks(http.db, caller.organization_id, row.id);
    return { data: links.map((link) => presentLink(link, row)) };
  });

  const revoking = {
    ...baseSchema,
    summary: "Revoke a link to an approval",
    params: approval.extend({ link_id: z.string() }),
    response: { 204: z.null() },
  };
  app.delete("/approvals/:approval_id/links/:link_id", { onRequest, schema: revoking }, async (request, reply) => {
    await revokeLink(http, request, request.params);
    return reply.code(204).send(null);
  });
}
