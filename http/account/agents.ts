import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { AGENT_DEFAULTS, ChangeAgent, CreateAgent, DeleteAgent } from "#events/agent.ts";
import { groupsStream } from "#events/group.ts";
import { newId, streamName } from "#events/ids.ts";
import type { ToolApprovals } from "#events/toolApproval.ts";
import { getAgent, listAgents, type AgentRow } from "#projections/agents/query.ts";
import { listAllCollections, resolveCollections } from "#projections/collections/query.ts";
import { findGroupsWithMembers } from "#projections/groups/query.ts";
import { requireBuilder, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent } from "../base/findById.ts";
import { requireProject } from "../base/findProject.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { describeList, pageResponse, type Page } from "../base/pageResponse.ts";
import { checkToolNames } from "../base/toolNames.ts";
import { Agent, AgentVersion, ChangeAgentBody, CreateAgentBody, presentAgent } from "./agentShape.ts";
import { readAgentVersions } from "./agentVersions.ts";
import { unique } from "./keyShape.ts";

async function requireAgent(http: Http, { organization_id }: Caller, id: string): Promise<AgentRow> {
  const row = await findCurrent(http, ["agents"], ["agent", id], () => getAgent(http.db, organization_id, id));
  if (row) return row;
  throw new ApiError("agent_not_found", "No agent has this id.", { param: "id" });
}

async function slugsById({ db }: Http, organization: string): Promise<Map<string, string>> {
  return new Map((await listAllCollections(db, organization)).map(({ id, slug }) => [id, slug]));
}

async function collectionIds({ db, waitUntilCurrent }: Http, organization: string, names: string[]): Promise<string[]> {
  await waitUntilCurrent(["collections"]);
  const { found, unknown } = await resolveCollections(db, organization, names);
  if (unknown.length === 0) return found.map(({ id }) => id);
  throw new ApiError("unknown_collection", `collections: there is no collection ${JSON.stringify(unknown[0])}.`, {
    param: "collections",
  });
}

/** Refuses a rule for a tool that the agent lacks: it would protect nothing, and the name may be misspelt. Throws `unknown_tool`. */
function checkApprovedTools(approvals: object, tools: string[]): void {
  const unknown = Object.keys(approvals).find((name) => !tools.includes(name));
  if (unknown !== undefined)
    throw new ApiError("unknown_tool", `tool_approvals: the agent has no tool ${JSON.stringify(unknown)}.`, {
      param: `tool_approvals.${unknown}`,
    });
}

/** Refuses a rule that names an empty group, because nobody could approve its calls. */
async function checkApprovingGroups(http: Http, organization: string, approvals: ToolApprovals): Promise<void> {
  const named = Object.entries(approvals).flatMap(([tool, { assignees }]) =>
    assignees.flatMap((one) => ("group" in one ? [{ tool, group: one.group.toLowerCase() }] : [])),
  );
  if (named.length === 0) return;
  await http.waitUntilCurrent(["users"], streamName("organization", organization));
  await http.waitUntilCurrent(["groups"], groupsStream(organization));
  const names = unique(named.map(({ group }) => group));
  const known = new Set(await findGroupsWithMembers(http.db, organization, names));
  const empty = named.find(({ group }) => !known.has(group));
  if (!empty) return;
  const param = `tool_approvals.${empty.tool}.assignees`;
  const message = `${param}: the group ${JSON.stringify(empty.group)} does not exist or has no active members.`;
  throw new ApiError(null, message, { param });
}

/** Converts the settings of a request to the form in events. Throws 400, `unknown_tool`, `unknown_collection`, `unknown_project`. */
async function readSettings(
  http: Http,
  caller: Caller,
  body: z.infer<typeof ChangeAgentBody>,
  ownTools: string[] = [],
) {
  const { collections, reasoning, tools, project_id, ...rest } = body;
  const { organization_id } = caller;
  if (tools) await checkToolNames(http, organization_id, tools, (n) => `tools[${n}]`);
  if (rest.tool_approvals) {
    checkApprovedTools(rest.tool_approvals, tools ?? ownTools);
    await checkApprovingGroups(http, organization_id, rest.tool_approvals);
  }
  return {
    ...rest,
    ...(project_id !== undefined && { project_id: await requireProject(http, caller, project_id) }),
    ...(tools && { tools: unique(tools) }),
    ...(reasoning !== undefined && { reasoning_effort: reasoning && reasoning.effort }),
    ...(collections !== undefined && {
      collections: collections && (await collectionIds(http, organization_id, collections)),
    }),
  };
}

const commandFor = (request: FastifyRequest, agent_id: string) =>
  commandFields(request, streamName("agent", agent_id), ["agents"]);

async function create(http: Http, request: FastifyRequest, body: z.infer<typeof CreateAgentBody>): Promise<AgentRow> {
  const identity = identifyPost(request, "/api/agents");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return requireAgent(http, request.caller, earlier);
  await checkCount(http, request.caller.organization_id, "agents");
  const agent_id = newId();
  const { name, ...settings } = body;
  const data = { ...AGENT_DEFAULTS, ...(await readSettings(http, request.caller, settings)), agent_id, name };
  const command = { ...commandFor(request, agent_id), ...identity, data, requireProjected: true };
  const { created_id } = await createOnce(http, CreateAgent, command);
  return requireAgent(http, request.caller, created_id);
}

/** Agents of the organization: everybody signed in sees them, builders and above manage them. */
export function agentRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireBuilder(http);
  const baseSchema = { tags: ["Agents"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };
  const presentOne = async ({ caller }: FastifyRequest, row: AgentRow) =>
    presentAgent(row, await slugsById(http, caller.organization_id));

  const listing = describeList(baseSchema, "List agents", Agent);
  app.get("/agents", { onRequest: reading, schema: listing }, async (request) => {
    const { caller, query } = request;
    await http.waitUntilCurrent(["agents"]);
    await request.acquireLongRead();
    const slugs = await slugsById(http, caller.organization_id);
    const read = (page: Page) => listAgents(http.db, caller.organization_id, page);
    return pageResponse(query, read, (row) => presentAgent(row, slugs));
  });

  const creating = { ...baseSchema, summary: "Create an agent", body: CreateAgentBody, response: { 201: Agent } };
  app.post("/agents", { onRequest: managing, schema: creating }, async (request, reply) =>
    reply.code(201).send(await presentOne(request, await create(http, request, request.body))),
  );

  const readingOne = { ...itemSchema, summary: "Get an agent", response: { 200: Agent } };
  app.get("/agents/:id", { onRequest: reading, schema: readingOne }, async (request) =>
    presentOne(request, await requireAgent(http, request.caller, request.params.id)),
  );

  const versions = describeList(itemSchema, "List the versions of an agent", AgentVersion);
  app.get("/agents/:id/versions", { onRequest: reading, schema: versions }, async (request) => {
    const { caller, params, query } = request;
    await request.acquireLongRead();
    const { id, version } = await requireAgent(http, caller, params.id);
    const slugs = await slugsById(http, caller.organization_id);
    const stream = http.streamPages(streamName("agent", id));
    return pageResponse(
      query,
      (page) => readAgentVersions(stream, version, slugs, page),
      (row) => row,
    );
  });

  const changing = { ...itemSchema, summary: "Change an agent", body: ChangeAgentBody, response: { 200: Agent } };
  app.patch("/agents/:id", { onRequest: managing, schema: changing }, async (request) => {
    const { id: agent_id, tools } = await requireAgent(http, request.caller, request.params.id);
    const data = { agent_id, ...(await readSettings(http, request.caller, request.body, tools)) };
    await http.send(ChangeAgent, { ...commandFor(request, agent_id), data, requireProjected: true });
    return presentOne(request, await requireAgent(http, request.caller, agent_id));
  });

  const deleting = { ...itemSchema, summary: "Delete an agent", response: { 204: z.null() } };
  app.delete("/agents/:id", { onRequest: managing, schema: deleting }, async (request, reply) => {
    const { id: agent_id } = await requireAgent(http, request.caller, request.params.id);
    await http.send(DeleteAgent, { ...commandFor(request, agent_id), data: { agent_id }, requireProjected: true });
    return reply.code(204).send(null);
  });
}
