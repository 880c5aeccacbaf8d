import { z } from "zod";
import { DeleteTurn } from "#events/thread.ts";
import { streamOf } from "#events/ids.ts";
import { threadExists } from "#projections/turns/query.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../app.ts";
import { openFeed } from "../chat/feed.ts";
import { threadOf } from "../chat/identity.ts";
import { findModel } from "../chat/model.ts";
import { goneSignal, takeOver } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { validator } from "../validate.ts";
import { cancelled } from "./cancel.ts";
import { findAgent, located, scopeFor } from "./find.ts";
import { followResponse, replayResponse } from "./follow.ts";
import { InputItems, inputItems } from "./inputItems.ts";
import { responseId } from "./present.ts";
import { respond } from "./respond.ts";
import { RESPONSE_CODES, ResponseRequest } from "./schema.ts";
import { endedAt, headOf, storedResponse } from "./stored.ts";

const BODY_LIMIT = 64 * 1024 * 1024;

const described = { tags: ["Agents"], security: [{ key: [] }] };
const Agent = z.object({ agent_id: z.string() });
const One = {
  ...described,
  params: Agent.extend({ id: z.string() }),
  querystring: z.object({ user: z.string().optional().describe("The end user whose response it is.") }),
};

/** Number of the last event that a client got; -1 for none. Throws a 400. */
function startAfterOf(text: string | undefined): number {
  if (text === undefined) return -1;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ApiError(null, "starting_after must be the sequence_number of an event.", { param: "starting_after" });
}

function createRoute(app: App, http: Http): void {
  app.post(
    "/responses",
    {
      bodyLimit: BODY_LIMIT,
      validatorCompiler: validator(RESPONSE_CODES),
      schema: {
        ...described,
        summary: "Let an agent answer",
        description:
          "With `stream: true` the answer is a stream of events numbered by `sequence_number`; GET the response with `stream=true` and " +
          "`starting_after` to go on with it, from any process. The response header `x-thread-id` names the stored thread.",
        params: Agent,
        body: ResponseRequest,
      },
    },
    (request, reply) => respond(http, request, reply, request.params.agent_id, request.body),
  );
}

function readRoute(app: App, http: Http): void {
  const querystring = One.querystring.extend({
    stream: z.enum(["true", "false"]).optional(),
    starting_after: z.string().optional().describe("Number of the last event that was received."),
  });
  app.get(
    "/responses/:id",
    { schema: { ...One, querystring, summary: "One response, or its stream" } },
    async (request, reply) => {
      const startAfter = startAfterOf(request.query.starting_after);
      const { row } = await located(http, request);
      reply.header("x-thread-id", row.thread_id);
      if (request.query.stream !== "true") return storedResponse(http, row);
      // whoever has its id asks for it by that, and not by its request again
      await takeOver(http, row);
      const head = await headOf(http, row);
      if (endedAt(row)) return replayResponse(http, reply, { head, row, startAfter });
      const { organization_id } = row;
      const feed = openFeed(http.frames, organization_id, row.id);
      await feed.catchUp().catch(() => {});
      await followResponse(http, reply, { organization_id, head, feed, startAfter, gone: goneSignal(reply.raw) });
      return reply;
    },
  );
}

function changeRoutes(app: App, http: Http): void {
  app.post(
    "/responses/:id/cancel",
    { schema: { ...One, summary: "Stop a running response" } },
    async (request, reply) => {
      const { row, scope } = await located(http, request);
      reply.header("x-thread-id", row.thread_id);
      return storedResponse(http, await cancelled(http, request, scope, row));
    },
  );

  const Deleted = z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) });
  app.delete(
    "/responses/:id",
    { schema: { ...One, summary: "Delete a response and the turn that prompted it", response: { 200: Deleted } } },
    async (request, reply) => {
      const { row, scope } = await located(http, request);
      reply.header("x-thread-id", row.thread_id);
      await cancelled(http, request, scope, row);
      await http.send(DeleteTurn, {
        stream: streamOf("thread", row.thread_id),
        organization_id: row.organization_id,
        principal: request.caller.principal,
        request_id: request.id,
        data: { turn_id: row.id, scope },
        waitFor: ["turns"],
        mustFollow: true,
      });
      return { id: responseId(row.id), object: "response" as const, deleted: true as const };
    },
  );
}

function listRoutes(app: App, http: Http): void {
  app.get(
    "/responses/:id/input_items",
    { schema: { ...One, summary: "What stood in the thread before a response", response: { 200: InputItems } } },
    async (request, reply) => {
      const { row } = await located(http, request);
      reply.header("x-thread-id", row.thread_id);
      return inputItems(http, row);
    },
  );

  app.get(
    "/models",
    { schema: { ...described, summary: "The agent's one model", params: Agent, querystring: One.querystring } },
    async (request, reply) => {
      const { caller, query } = request;
      const agent = await findAgent(http, caller, request.params.agent_id);
      const thread = threadOf(request);
      const scope = scopeFor(caller, query.user, agent);
      if (thread && (await threadExists(http.db, caller.organization_id, thread, scope)))
        reply.header("x-thread-id", thread);
      if (!agent.model) return { object: "list", data: [] };
      const model = await findModel(http, { ...caller, allowed_models: null }, agent.model);
      const { created = 0, owned_by = agent.model.split("/")[0]! } = model ?? {};
      return { object: "list", data: [{ id: agent.model, object: "model", created, owned_by }] };
    },
  );
}

/** Everything below /api/agents/{agent_id}/v1. */
export function agentApiRoutes(app: App, http: Http): void {
  app.addHook("onRequest", requireCredential(http));
  createRoute(app, http);
  readRoute(app, http);
  changeRoutes(app, http);
  listRoutes(app, http);
}
