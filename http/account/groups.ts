import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ConfigureGroup, GROUP_NAME, groupsStream, RemoveGroup } from "#events/group.ts";
import { deriveCommandId } from "#events/ids.ts";
import { findUnknownPeople, getGroup, listGroups, type GroupRow } from "#projections/groups/query.ts";
import { requireAdmin, requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findPreviousOutcome } from "../base/idempotency.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";

const MAX_MEMBERS = 500;

const Settings = z.object({
  members: z
    .array(z.uuid().toLowerCase())
    .max(MAX_MEMBERS)
    .describe("Ids of people of the organization (`GET /api/members`), at least one."),
  updated_at: z.iso
    .datetime({ offset: true })
    .nullish()
    .describe(
      "The `updated_at` of the group that you have read. If somebody has changed or removed the group since, nothing is changed: 409 " +
        "`group_changed`. Without it, the members are replaced in any case.",
    ),
});
const Group = z
  .object({
    group: z.string(),
    members: z
      .array(z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() }))
      .describe("Without people who have left the organization."),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Group" });

const present = ({ updated_at, ...group }: GroupRow): z.infer<typeof Group> => ({
  ...group,
  updated_at: updated_at.toISOString(),
});

async function requireGroup(http: Http, organization: string, name: string): Promise<GroupRow> {
  await http.waitUntilCurrent(["groups"], groupsStream(organization));
  const row = await getGroup(http.db, organization, name);
  if (row) return row;
  throw new ApiError("group_not_found", "There is no group of this name.", { param: "group" });
}

const commandFor = (request: FastifyRequest) =>
  commandFields(request, groupsStream(request.caller.organization_id), ["groups"]);

const groupChanged = () =>
  new ApiError(
    "group_changed",
    "updated_at: somebody has changed or removed the group since you read it. Read it again, then repeat your change.",
    { param: "updated_at" },
  );

/**
 * Changes a group unless it was changed since the caller read it. Concurrent changes of the same version share one command id, so only
 * one takes effect. A repeated request finds that it took effect. Throws 409 `group_changed`.
 */
async function configureUnchanged(
  http: Http,
  request: FastifyRequest,
  data: { group: string; members: string[] },
  read_at: string,
): Promise<void> {
  const { caller, bodyHash: fingerprint } = request;
  const { organization_id } = caller;
  const id = deriveCommandId("configure-group", organization_id, data.group, read_at);
  const identity = { organization_id, id, fingerprint, hasKey: true };
  try {
    if ((await findPreviousOutcome(http, identity))?.event) return;
    await http.waitUntilCurrent(["groups"], groupsStream(organization_id));
    const found = await getGroup(http.db, organization_id, data.group);
    if (found?.updated_at.toISOString() !== read_at) throw groupChanged();
    await http.send(ConfigureGroup, { ...commandFor(request), ...identity, data, requireProjected: true });
  } catch (error) {
    throw error instanceof ApiError && error.errorCode === "idempotency_key_reused" ? groupChanged() : error;
  }
}

/** Throws 400 `invalid_name`, `invalid_members`, 409 `too_many_groups`, `group_changed`. */
async function configure(
  http: Http,
  request: FastifyRequest,
  group: string,
  { members, updated_at }: z.infer<typeof Settings>,
) {
  const { organization_id } = request.caller;
  if (!GROUP_NAME.test(group)) {
    const message =
      "group must be 1-64 lower-case letters, digits, dots, hyphens or underscores, a letter or digit first.";
    throw new ApiError("invalid_name", message, { param: "group" });
  }
  const refuse = (why: string) => new ApiError("invalid_members", `members: ${why}`, { param: "members" });
  const ids = [...new Set(members)];
  if (ids.length === 0)
    throw refuse("is empty; a group without members could decide nothing, so name at least one person.");
  await http.waitUntilCurrent(["users"]);
  const [unknown] = await findUnknownPeople(http.db, organization_id, ids);
  if (unknown) throw refuse(`${unknown} is not an active member of the organization.`);
  const data = { group, members: ids };
  if (updated_at) await configureUnchanged(http, request, data, new Date(updated_at).toISOString());
  else await http.send(ConfigureGroup, { ...commandFor(request), data, requireProjected: true });
  return present(await requireGroup(http, organization_id, group));
}

/** Groups of people, which can be assignees of approvals. Everybody who is signed in sees them; owners and admins manage them. */
export function groupRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ group: z.string() }) };

  const listing = describeList(baseSchema, "List groups", Group);
  app.get("/groups", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["groups"]);
    const rows = await listGroups(http.db, caller.organization_id);
    return sliceResponse(query, rows, present);
  });

  const readingOne = { ...itemSchema, summary: "Get a group", response: { 200: Group } };
  app.get("/groups/:group", { onRequest: reading, schema: readingOne }, async ({ caller, params }) =>
    present(await requireGroup(http, caller.organization_id, params.group)),
  );

  const description =
    "Creates the group or replaces its members. Approvals name it as `{group}`; its current members may decide.";
  const configuring = {
    ...itemSchema,
    summary: "Configure a group",
    description,
    body: Settings,
    response: { 200: Group },
  };
  app.put("/groups/:group", { onRequest: managing, schema: configuring }, (request) =>
    configure(http, request, request.params.group, request.body),
  );

  const removing = { ...itemSchema, summary: "Remove a group", response: { 204: z.null() } };
  app.delete("/groups/:group", { onRequest: managing, schema: removing }, async (request, reply) => {
    const { group } = await requireGroup(http, request.caller.organization_id, request.params.group);
    await http.send(RemoveGroup, { ...commandFor(request), data: { group }, requireProjected: true });
    return reply.code(204).send(null);
  });
}
