import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid, newId, streamOf } from "#events/ids.ts";
import { ChangeUser, RegisterUser, RemoveUser, SetPassword } from "#events/user.ts";
import { getMember, listMembers, type MemberRow } from "#projections/users/query.ts";
import { requireAdmin, requireSession } from "../auth/authenticate.ts";
import type { App } from "../app.ts";
import type { Caller } from "../auth/caller.ts";
import { hashPassword, newPassword } from "../auth/password.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, doneBefore, fingerprintOf, idempotencyKey } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { notReadable } from "../send.ts";
import { Change, Create, Created, Member, NewPassword, present } from "./memberShape.ts";

const rosterOf = ({ organization_id }: Pick<Caller, "organization_id">) => streamOf("organization", organization_id);

async function find({ db, freshRead }: Http, caller: Caller, id: string): Promise<MemberRow> {
  if (isUuid(id)) {
    await freshRead(["users"], rosterOf(caller));
    const row = await getMember(db, caller.organization_id, id);
    if (row) return row;
  }
  throw new ApiError("member_not_found", "No member has this id.", { param: "id" });
}

/** Whoever was signed in with what ends here is not any more when it is answered. */
const envelope = ({ caller, id }: FastifyRequest) => ({
  stream: rosterOf(caller),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["users", "sessions"],
});

/** Whom a repeated command registered. */
async function registeredBefore({ db }: Http, organization: string, id: string, fingerprint: string): Promise<string> {
  const before = await doneBefore(db, organization, id, fingerprint);
  const [event] = before
    ? await db.query<{ data: string }>("select data from log.events where position = $1", [before.position])
    : [];
  if (!event) throw notReadable();
  return (JSON.parse(event.data) as { user_id: string }).user_id;
}

async function create(
  http: Http,
  request: FastifyRequest,
  body: z.infer<typeof Create>,
): Promise<z.infer<typeof Created>> {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/members" };
  const id = commandId(asking, idempotencyKey(request.headers));
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const user_id = newId();
  const password = newPassword();
  const email_claim = http.keyring.mark("email", body.email);
  const data = { ...body, email_claim, user_id, password_hash: await hashPassword(password) };
  const sent = await http.send(RegisterUser, { ...envelope(request), id, fingerprint, data });
  if (sent.repeated) {
    const made = await registeredBefore(http, organization_id, id, fingerprint);
    return present(await find(http, request.caller, made));
  }
  if (sent.followed) return { ...present(await find(http, request.caller, user_id)), password };
  const now = new Date().toISOString();
  return { ...body, id: user_id, active: true, created_at: now, updated_at: now, password };
}

/** People of the organization (decisions: accounts): everybody signed in sees them, owners and admins manage them. */
export function memberRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireAdmin(http);
  const described = { tags: ["Accounts"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };

  const listing = { ...described, summary: "List members", querystring: PageQuery, response: { 200: listOf(Member) } };
  app.get("/members", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["users"], rosterOf(caller));
    const { rows, total } = await listMembers(http.db, caller.organization_id, page);
    return { data: rows.map(present), total, ...page };
  });

  const creating = {
    ...described,
    summary: "Add a member",
    description: "Only an owner makes owners. 409 `email_taken`.",
    body: Create,
    response: { 201: Created },
  };
  app.post("/members", { onRequest: managing, schema: creating }, async (request, reply) =>
    reply.code(201).send(await create(http, request, request.body)),
  );

  const readingOne = { ...one, summary: "One member", response: { 200: Member } };
  app.get("/members/:id", { onRequest: reading, schema: readingOne }, async ({ caller, params }) =>
    present(await find(http, caller, params.id)),
  );

  const changing = {
    ...one,
    summary: "Change a member",
    description:
      "Only an owner changes owners, and one that is active stays: 409 `last_owner`. The email address stays what it is.",
    body: Change,
    response: { 200: Member },
  };
  app.patch("/members/:id", { onRequest: managing, schema: changing }, async (request) => {
    const { id: user_id } = await find(http, request.caller, request.params.id);
    const data = { user_id, ...request.body };
    await http.send(ChangeUser, { ...envelope(request), data, mustFollow: true });
    return present(await find(http, request.caller, user_id));
  });

  const removing = {
    ...one,
    summary: "Remove a member",
    description: "Their sessions end at once; what they have made stays.",
    response: { 204: z.null() },
  };
  app.delete("/members/:id", { onRequest: managing, schema: removing }, async (request, reply) => {
    const { id: user_id } = await find(http, request.caller, request.params.id);
    await http.send(RemoveUser, { ...envelope(request), data: { user_id }, mustFollow: true });
    return reply.code(204).send(null);
  });

  const resetting = {
    ...one,
    summary: "Give a member a new password",
    description: "Their sessions end at once. One's own is changed at /api/auth/password.",
    response: { 200: NewPassword },
  };
  app.post("/members/:id/password", { onRequest: managing, schema: resetting }, async (request) => {
    const { id: user_id } = await find(http, request.caller, request.params.id);
    if (user_id === request.caller.session!.user_id)
      throw new ApiError("forbidden", "Change your own password at /api/auth/password.");
    const password = newPassword();
    const data = { user_id, password_hash: await hashPassword(password) };
    await http.send(SetPassword, { ...envelope(request), data, mustFollow: true });
    return { password };
  });
}
