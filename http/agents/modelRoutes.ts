import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { isAlias } from "#events/route.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { findModel, modelNotFound } from "../base/model.ts";
import { readThreadId } from "../turns/previousTurn.ts";
import { findAgent, hasThread, responseScope } from "./lookups.ts";
import { AgentModel, AgentModels } from "./responseShape.ts";

interface ModelRequest {
  params: { agent_id: string };
  query: { user?: string | undefined };
}

/** Lists the agent's model, if it has one. The answer names the request's thread if it belongs to the caller. */
async function listModels(http: Http, request: FastifyRequest & ModelRequest, reply: FastifyReply) {
  const { caller, query, params } = request;
  const agent = await findAgent(http, caller, params.agent_id);
  const thread = readThreadId(request);
  const scope = responseScope(caller, query.user, agent);
  if (thread && (await hasThread(http, caller.organization_id, thread, scope))) reply.header("x-thread-id", thread);
  if (!agent.model) return [];
  const model = await findModel(http, { ...caller, allowed_models: null }, agent.model);
  const { created = 0, owned_by = isAlias(agent.model) ? "alias" : agent.model.split("/")[0]! } = model ?? {};
  return [{ id: agent.model, object: "model" as const, created, owned_by }];
}

/** GET /models and GET /models/{id} of an agent; the id's slash may be raw or encoded. */
export function modelRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Agents"], security: [{ key: [] }] };
  const params = z.object({ agent_id: z.string() });
  const querystring = z.object({ user: z.string().optional().describe("The end user of the thread in x-thread-id.") });

  const listing = {
    ...baseSchema,
    summary: "The agent's one model",
    params,
    querystring,
    response: { 200: AgentModels },
  };
  app.get("/models", { schema: listing }, async (request, reply) => ({
    object: "list" as const,
    data: await listModels(http, request, reply),
  }));

  const itemSchema = {
    ...baseSchema,
    summary: "The agent's model, by its id",
    params: params.extend({ "*": z.string() }),
    querystring,
    response: { 200: AgentModel },
  };
  app.get("/models/*", { schema: itemSchema }, async (request, reply) => {
    const id = request.params["*"];
    const model = (await listModels(http, request, reply)).find((listed) => listed.id === id);
    if (!model) throw modelNotFound(id, 404);
    return model;
  });
}
