import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { newId, isUuid, streamName } from "#events/ids.ts";
import { ChangeUser, RegisterUser, RemoveUser, SetPassword } from "#events/user.ts";
import { getMember, listMembers, type MemberRow } from "#projections/users/query.ts";
import { requireAdmin, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import { hashPassword, newPassword } from "../auth/password.ts";
import { queueHash } from "../auth/passwordQueue.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findFirstEvent, identifyPost, type IdempotentRequest } from "../base/idempotency.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import {
  ChangeMemberBody,
  CreateMemberBody,
  CreatedMember,
  Member,
  NewPassword,
  presentMember,
} from "./memberShape.ts";

/** People are part of their organization's stream. */
export const peopleStream = ({ organization_id }: Pick<Caller, "organization_id">) =>
  streamName("organization", organization_id);

/** Finds a member of the caller's organization. Throws 404 `member_not_found`. */
export async function requireMember({ db, waitUntilCurrent }: Http, caller: Caller, id: string): Promise<MemberRow> {
  if (isUuid(id)) {
    await waitUntilCurrent(["users"], peopleStream(caller));
    const row = await getMember(db, caller.organization_id, id);
    if (row) return row;
  }
  throw new ApiError("member_not_found", "No member has this id.", { param: "id" });
}

/** Also waits for the sessions, because sessions that a command ends must be refused as soon as it is answered. */
const commandFor = (request: FastifyRequest) =>
  commandFields(request, peopleStream(request.caller), ["users", "sessions"]);

/** Id of the user that the request's first delivery registered. */
async function registeredUser(http: Http, request: IdempotentRequest): Promise<string> {
  const { stream, position } = await findFirstEvent(http, request);
  const { events } = await http.readAuditSlice(request.organization_id, {
    stream,
    after: position - 1,
    limit: 1,
  });
  return (events[0]!.data as { user_id: string }).user_id;
}

async function create(
  http: Http,
  request: FastifyRequest,
  body: z.infer<typeof CreateMemberBody>,
): Promise<z.infer<typeof CreatedMember>> {
  const { caller } = request;
  const identity = identifyPost(request, "/api/members");
  const user_id = newId();
  const password = newPassword();
  const email_claim = http.keyring.keyedHash("email", body.email);
  const password_hash = await queueHash(http, request, () => hashPassword(password));
  const data = { ...body, email_claim, user_id, password_hash };
  const { repeated, projected } = await http.send(RegisterUser, { ...commandFor(request), ...identity, data });
  const registered = repeated ? await registeredUser(http, identity) : user_id;
  if (registered !== user_id) return presentMember(await requireMember(http, caller, registered));
  if (projected) return { ...presentMember(await requireMember(http, caller, user_id)), password };
  // The password cannot be shown again, so the answer does not wait for a lagging read model.
  const now = new Date(currentTime()).toISOString();
  return { ...body, id: user_id, active: true, created_at: now, updated_at: now, password };
}

async function resetPassword(http: Http, request: FastifyRequest, id: string): Promise<{ password: string }> {
  const { id: user_id } = await requireMember(http, request.caller, id);
  if (user_id === request.caller.session!.user_id)
    throw new ApiError("forbidden", "Change your own password at /api/auth/password.");
  const password = newPassword();
  const data = { user_id, password_hash: await queueHash(http, request, () => hashPassword(password)) };
  await http.send(SetPassword, { ...commandFor(request), data, requireProjected: true });
  return { password };
}

const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };

/** Reading the people of the organization, for everybody signed in. */
function readRoutes(app: App, http: Http): void {
  const onRequest = requireSession(http);

  app.get(
    "/members",
    { onRequest, schema: describeList(baseSchema, "List members", Member) },
    async ({ caller, query }) => {
      await http.waitUntilCurrent(["users"], peopleStream(caller));
      return pageResponse(query, (page) => listMembers(http.db, caller.organization_id, page), presentMember);
    },
  );

  const reading = { ...itemSchema, summary: "Get a member", response: { 200: Member } };
  app.get("/members/:id", { onRequest, schema: reading }, async ({ caller, params }) =>
    presentMember(await requireMember(http, caller, params.id)),
  );
}

const creating = {
  ...baseSchema,
  summary: "Add a member",
  description: "Only an owner can add an owner. 409 `email_taken` when a member has the address already.",
  body: CreateMemberBody,
  response: { 201: CreatedMember },
};
const changing = {
  ...itemSchema,
  summary: "Change a member",
  description:
    "Only an owner can change an owner, and the last active owner cannot be demoted or deactivated: 409 `last_owner`. " +
    "The email address cannot be changed.",
  body: ChangeMemberBody,
  response: { 200: Member },
};
const removing = {
  ...itemSchema,
  summary: "Remove a member",
  description: "Their sessions end at once. What they created stays.",
  response: { 204: z.null() },
};
const resetting = {
  ...itemSchema,
  summary: "Give a member a new password",
  description: "Their sessions end at once. Use /api/auth/password to change your own.",
  response: { 200: NewPassword },
};

/** Managing the people of the organization, for owners and admins. */
function manageRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);

  app.post("/members", { onRequest, schema: creating }, async (request, reply) =>
    reply.code(201).send(await create(http, request, request.body)),
  );

  app.patch("/members/:id", { onRequest, schema: changing }, async (request) => {
    const { id: user_id } = await requireMember(http, request.caller, request.params.id);
    const data = { user_id, ...request.body };
    await http.send(ChangeUser, { ...commandFor(request), data, requireProjected: true });
    return presentMember(await requireMember(http, request.caller, user_id));
  });

  app.delete("/members/:id", { onRequest, schema: removing }, async (request, reply) => {
    const { id: user_id } = await requireMember(http, request.caller, request.params.id);
    await http.send(RemoveUser, { ...commandFor(request), data: { user_id }, requireProjected: true });
    return reply.code(204).send(null);
  });

  app.post("/members/:id/password", { onRequest, schema: resetting }, (request) =>
    resetPassword(http, request, request.params.id),
  );
}

export function memberRoutes(app: App, http: Http): void {
  readRoutes(app, http);
  manageRoutes(app, http);
}
