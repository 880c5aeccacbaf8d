import { z } from "zod";
import { registerProtectedRoutes } from "../auth/registerProtectedRoutes.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { ApiError } from "../base/errors.ts";
import { validator } from "../base/validate.ts";
import { misplacedAgentRoutes } from "../base/misplacedPaths.ts";
import { openFrameReader } from "../turns/frameReader.ts";
import { cancelResponse } from "./cancelResponse.ts";
import { DeletedResponse, deleteResponse } from "./deleteResponse.ts";
import { findAgent, findRequestedResponse } from "./lookups.ts";
import { findPlace, followResponse, replayResponse } from "./followResponse.ts";
import { InputItems, inputItems } from "./inputItems.ts";
import { modelRoutes } from "./modelRoutes.ts";
import { measureHead } from "./present.ts";
import { AgentResponse } from "./responseShape.ts";
import { respond } from "./respond.ts";
import { RESPONSE_CODES, ResponseRequest } from "./schema.ts";
import { readResponseEnd, readHead, readStoredResponse } from "./storedResponse.ts";

const BODY_LIMIT = 64 * 1024 * 1024;

const baseSchema = { tags: ["Agents"], security: [{ key: [] }] };
const AgentPath = z.object({ agent_id: z.string() });
const ONE = {
  ...baseSchema,
  params: AgentPath.extend({ id: z.string() }),
  querystring: z.object({ user: z.string().optional().describe("The end user whose response it is.") }),
};

/** Number of the last event that the client has; -1 for none. Throws a 400. */
function readStartAfter(text: string | undefined): number {
  if (text === undefined) return -1;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ApiError(null, "starting_after must be the sequence_number of an event.", { param: "starting_after" });
}

function createRoute(app: App, http: Http): void {
  app.decorateRequest("agent", null as never);
  app.post(
    "/responses",
    {
      // an agent that the caller cannot use is refused before its body is read, whatever the body holds
      async preParsing(request, _reply, body) {
        request.agent = await findAgent(http, request.caller, request.params.agent_id);
        return body;
      },
      bodyLimit: BODY_LIMIT,
      validatorCompiler: validator(RESPONSE_CODES),
      schema: {
        ...baseSchema,
        summary: "Let an agent answer",
        description:
          "With `stream: true` the answer is a stream of events numbered by `sequence_number`; GET the response with `stream=true` and " +
          "`starting_after` to continue it, from any process. The response header `x-thread-id` names the stored thread.",
        params: AgentPath,
        body: ResponseRequest,
        response: { 200: AgentResponse },
      },
    },
    (request, reply) => respond(http, request, reply, request.body),
  );
}

function readRoute(app: App, http: Http): void {
  const querystring = ONE.querystring.extend({
    stream: z.enum(["true", "false"]).optional(),
    starting_after: z.string().optional().describe("Number of the last event received."),
  });
  app.get(
    "/responses/:id",
    { schema: { ...ONE, querystring, summary: "One response, or its stream", response: { 200: AgentResponse } } },
    async (request, reply) => {
      const startAfter = readStartAfter(request.query.starting_after);
      const { row } = await findRequestedResponse(http, request);
      reply.header("x-thread-id", row.thread_id);
      if (request.query.stream !== "true") return readStoredResponse(http, row);
      http.streams.count(reply);
      // the client now reads by id and does not retry its request
      await http.abandonedTurns.takeOver(row.organization_id, row.command_id);
      const head = await readHead(http, row);
      http.streams.countKept(reply, measureHead(head));
      if (readResponseEnd(row)) return replayResponse(http, reply, { head, row, startAfter });
      const { organization_id } = row;
      const reader = openFrameReader(http.frames, organization_id, row.id);
      const place = await findPlace(reader, row, startAfter);
      const disconnected = disconnectSignal(reply.raw);
      await followResponse(http, reply, { organization_id, head, reader, place, disconnected, row });
      return reply;
    },
  );
}

function changeRoutes(app: App, http: Http): void {
  app.post(
    "/responses/:id/cancel",
    { schema: { ...ONE, summary: "Stop a running response", response: { 200: AgentResponse } } },
    async (request, reply) => {
      const { row, scope } = await findRequestedResponse(http, request);
      reply.header("x-thread-id", row.thread_id);
      return readStoredResponse(http, await cancelResponse(http, request, scope, row));
    },
  );

  app.delete(
    "/responses/:id",
    {
      schema: {
        ...ONE,
        summary: "Delete a response and the turn that prompted it",
        response: { 200: DeletedResponse },
      },
    },
    async (request, reply) => {
      const { row } = await findRequestedResponse(http, request);
      reply.header("x-thread-id", row.thread_id);
      return deleteResponse(http, request, row);
    },
  );
}

function inputItemsRoute(app: App, http: Http): void {
  app.get(
    "/responses/:id/input_items",
    { schema: { ...ONE, summary: "The messages that a response answers", response: { 200: InputItems } } },
    async (request, reply) => {
      const { row } = await findRequestedResponse(http, request);
      reply.header("x-thread-id", row.thread_id);
      return reply.type("application/json; charset=utf-8").send(inputItems(http, reply, row) as never);
    },
  );
}

/** Everything below /api/agents/{agent_id}/v1. */
export function agentApiRoutes(app: App, http: Http): void {
  misplacedAgentRoutes(app, http);
  registerProtectedRoutes(app, http, [createRoute, readRoute, changeRoutes, inputItemsRoute, modelRoutes]);
}
