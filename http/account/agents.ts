import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { AGENT_DEFAULTS, ChangeAgent, CreateAgent, DeleteAgent } from "#events/agent.ts";
import { isUuid, newId, streamOf } from "#events/ids.ts";
import { getAgent, listAgents, type AgentRow } from "#projections/agents/query.ts";
import { allCollections, resolveCollections } from "#projections/collections/query.ts";
import { requireBuilder, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { projectOf } from "../project.ts";
import { notReadable } from "../send.ts";
import { checkNames } from "../toolNames.ts";
import type { App } from "../app.ts";
import { Agent, Change, Create, present } from "./agentShape.ts";
import { unique } from "./keyShape.ts";

async function find({ db, freshRead }: Http, { organization_id }: Caller, id: string): Promise<AgentRow> {
  if (isUuid(id)) {
    await freshRead(["agents"], streamOf("agent", id));
    const row = await getAgent(db, organization_id, id);
    if (row) return row;
  }
  throw new ApiError("agent_not_found", "No agent has this id.", { param: "id" });
}

async function slugsOf({ db }: Http, organization: string): Promise<Map<string, string>> {
  return new Map((await allCollections(db, organization)).map(({ id, slug }) => [id, slug]));
}

async function idsOf({ db, freshRead }: Http, organization: string, names: string[]): Promise<string[]> {
  await freshRead(["collections"]);
  const { found, unknown } = await resolveCollections(db, organization, names);
  if (unknown.length === 0) return found.map(({ id }) => id);
  throw new ApiError("unknown_collection", `collections: there is no collection ${JSON.stringify(unknown[0])}.`, {
    param: "collections",
  });
}

/** The settings as events hold them; what is not sent is left out. Throws `unknown_tool`, `unknown_collection`, `unknown_project`. */
async function settingsOf(http: Http, caller: Caller, body: z.infer<typeof Change>) {
  const { collections, reasoning, tools, project_id, ...rest } = body;
  const { organization_id } = caller;
  if (tools) await checkNames(http, organization_id, tools, (n) => `tools[${n}]`);
  return {
    ...rest,
    ...(project_id !== undefined && { project_id: await projectOf(http, caller, project_id) }),
    ...(tools && { tools: unique(tools) }),
    ...(reasoning !== undefined && { reasoning_effort: reasoning && reasoning.effort }),
    ...(collections !== undefined && { collections: collections && (await idsOf(http, organization_id, collections)) }),
  };
}

const envelope = ({ caller, id }: FastifyRequest, agent_id: string) => ({
  stream: streamOf("agent", agent_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["agents"],
});

async function create(http: Http, request: FastifyRequest, body: z.infer<typeof Create>): Promise<AgentRow> {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/agents" };
  const id = commandId(asking, idempotencyKey(request.headers));
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const agent_id = newId();
  const { name, ...settings } = body;
  const data = { ...AGENT_DEFAULTS, ...(await settingsOf(http, request.caller, settings)), agent_id, name };
  const sent = await http.send(CreateAgent, { ...envelope(request, agent_id), id, fingerprint, fresh: true, data });
  if (!sent.repeated && !sent.followed) throw notReadable();
  const made = sent.repeated ? await madeBefore(http.db, organization_id, id, fingerprint) : agent_id;
  return find(http, request.caller, made);
}

/** Agents of the organization (decisions: accounts): everybody signed in sees them, builders and above manage them. */
export function agentRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireBuilder(http);
  const described = { tags: ["Agents"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };
  const shown = async ({ caller }: FastifyRequest, row: AgentRow) =>
    present(row, await slugsOf(http, caller.organization_id));

  const listing = { ...described, summary: "List agents", querystring: PageQuery, response: { 200: listOf(Agent) } };
  app.get("/agents", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["agents"]);
    const { rows, total } = await listAgents(http.db, caller.organization_id, page);
    const slugs = await slugsOf(http, caller.organization_id);
    return { data: rows.map((row) => present(row, slugs)), total, ...page };
  });

  const creating = { ...described, summary: "Create an agent", body: Create, response: { 201: Agent } };
  app.post("/agents", { onRequest: managing, schema: creating }, async (request, reply) =>
    reply.code(201).send(await shown(request, await create(http, request, request.body))),
  );

  const readingOne = { ...one, summary: "One agent", response: { 200: Agent } };
  app.get("/agents/:id", { onRequest: reading, schema: readingOne }, async (request) =>
    shown(request, await find(http, request.caller, request.params.id)),
  );

  const changing = { ...one, summary: "Change an agent", body: Change, response: { 200: Agent } };
  app.patch("/agents/:id", { onRequest: managing, schema: changing }, async (request) => {
    const { id: agent_id } = await find(http, request.caller, request.params.id);
    const data = { agent_id, ...(await settingsOf(http, request.caller, request.body)) };
    await http.send(ChangeAgent, { ...envelope(request, agent_id), data, mustFollow: true });
    return shown(request, await find(http, request.caller, agent_id));
  });

  const deleting = { ...one, summary: "Delete an agent", response: { 204: z.null() } };
  app.delete("/agents/:id", { onRequest: managing, schema: deleting }, async (request, reply) => {
    const { id: agent_id } = await find(http, request.caller, request.params.id);
    await http.send(DeleteAgent, { ...envelope(request, agent_id), data: { agent_id }, mustFollow: true });
    return reply.code(204).send(null);
  });
}
