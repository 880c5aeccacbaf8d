import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { DAY_MS } from "#events/units.ts";
import { NameSubstitute, WithdrawSubstitute } from "#events/user.ts";
import { getMember } from "#projections/users/query.ts";
import { getSubstitute, hasSubstitute } from "#projections/users/substitutes.ts";
import { mayDecide, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { peopleStream, requireMember } from "./members.ts";

const MAX_MS = 366 * DAY_MS;

const Body = z.object({
  substitute: z.uuid().toLowerCase().describe("Id of a member who may decide approvals."),
  from: z.iso.datetime({ offset: true }).optional().describe("Now by default."),
  until: z.iso.datetime({ offset: true }).describe("A year ahead at most."),
});
const time = z.iso.datetime().nullable();
const Substitute = z
  .object({
    substitute: z
      .object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() })
      .nullable()
      .describe("Null: there is none, or the time is over."),
    from: time,
    until: time,
  })
  .meta({ title: "Substitute" });

async function readSubstitute(http: Http, caller: Caller, id: string): Promise<z.infer<typeof Substitute>> {
  const member = await requireMember(http, caller, id);
  const row = await getSubstitute(http.db, caller.organization_id, member.id);
  if (!row) return { substitute: null, from: null, until: null };
  return { substitute: row.substitute, from: row.from.toISOString(), until: row.until.toISOString() };
}

const invalid = (field: string, why: string) =>
  new ApiError("invalid_substitute", `${field}: ${why}`, { param: field });

async function nameSubstitute(http: Http, request: FastifyRequest, id: string, body: z.infer<typeof Body>) {
  const { caller } = request;
  const { id: user_id } = await requireMember(http, caller, id);
  const now = currentTime();
  const [from, until] = [body.from ? Date.parse(body.from) : now, Date.parse(body.until)];
  if (until <= from) throw invalid("until", "must be after from.");
  if (until <= now) throw invalid("until", "must be in the future.");
  if (until > now + MAX_MS) throw invalid("until", "must be a year ahead at most.");
  if (body.substitute === user_id) throw invalid("substitute", "must be somebody else.");
  const substitute = await getMember(http.db, caller.organization_id, body.substitute);
  if (!substitute?.active) throw invalid("substitute", "must be an active member of the organization.");
  if (!mayDecide(substitute.role)) throw invalid("substitute", "has a role that may not decide approvals.");
  const times = { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
  await http.send(NameSubstitute, {
    ...commandFields(request, peopleStream(caller), ["users"]),
    requireProjected: true,
    data: { user_id, substitute_id: substitute.id, ...times },
  });
  return readSubstitute(http, caller, user_id);
}

/** Substitutes decide approvals for an absent member. Members set their own; owners and admins also those of others. */
export function substituteRoutes(app: App, http: Http): void {
  const onRequest = requireSession(http);
  const baseSchema = {
    tags: ["Accounts"],
    security: [{ session: [] }],
    params: z.object({ id: z.string() }),
  };

  const reading = { ...baseSchema, summary: "Get the substitute of a member", response: { 200: Substitute } };
  app.get("/members/:id/substitute", { onRequest, schema: reading }, ({ caller, params }) =>
    readSubstitute(http, caller, params.id),
  );

  const naming = {
    ...baseSchema,
    summary: "Name a substitute",
    description: "Between the two times the substitute sees and may decide the approvals that the member may decide.",
    body: Body,
    response: { 200: Substitute },
  };
  app.put("/members/:id/substitute", { onRequest, schema: naming }, (request) =>
    nameSubstitute(http, request, request.params.id, request.body),
  );

  const withdrawing = { ...baseSchema, summary: "Withdraw a substitute", response: { 204: z.null() } };
  app.delete("/members/:id/substitute", { onRequest, schema: withdrawing }, async (request, reply) => {
    const { caller, params } = request;
    const { id: user_id } = await requireMember(http, caller, params.id);
    // so that a withdrawal that is repeated does not fill the log
    const named = await hasSubstitute(http.db, caller.organization_id, user_id);
    await http.send(WithdrawSubstitute, {
      ...commandFields(request, peopleStream(caller), ["users"]),
      requireProjected: true,
      data: { user_id, named },
    });
    return reply.code(204).send(null);
  });
}
