import type { FastifyRequest } from "fastify";
import type { Http } from "../deps.ts";
import type { App } from "../app.ts";
import { validator } from "../validate.ts";
import { answerBuffered, answerStreamed } from "./answer.ts";
import { askOf } from "./ask.ts";
import { beginTurn, rejoinTurn, type Begun } from "./begin.ts";
import { earlierTurn, identityOf } from "./identity.ts";
import { findModel, modelNotFound } from "./model.ts";
import { COMPLETION_CODES, Completion, CompletionRequest } from "./schema.ts";
import { lookUpTools } from "./tools.ts";
import { goneSignal } from "./unanswered.ts";

const BODY_LIMIT = 64 * 1024 * 1024;

/** The turn that answers a request: an earlier one that it repeats, or a new one. */
async function turnFor(http: Http, request: FastifyRequest, gone: AbortSignal): Promise<Begun> {
  const ask = askOf(request.body as CompletionRequest);
  const identity = identityOf(request, "/chat/completions", ask.user);
  const earlier = await earlierTurn(http, request, identity);
  if (earlier) return rejoinTurn(http, ask, earlier);
  const model = await findModel(http, request.caller, ask.model);
  if (!model) throw modelNotFound(ask.model, 400);
  const needs = ask.settings.tools.length > 0 || ask.collections !== null;
  const ready = needs ? await lookUpTools(http, request.caller, ask) : ask;
  return beginTurn(http, request, ready, identity, gone);
}

/** POST /chat/completions, buffered and streamed (spec: Chat API). */
export function completionRoute(app: App, http: Http): void {
  app.post(
    "/chat/completions",
    {
      bodyLimit: BODY_LIMIT,
      validatorCompiler: validator(COMPLETION_CODES),
      schema: {
        tags: ["Chat"],
        summary: "Answer a conversation",
        description:
          "With `stream: true` the answer is a stream of `chat.completion.chunk` events that ends in `data: [DONE]`. " +
          "The response header `x-thread-id` names the stored thread; send it on a request to go on with that thread.",
        security: [{ key: [] }],
        body: CompletionRequest,
        response: { 200: Completion },
      },
    },
    async (request, reply) => {
      const gone = goneSignal(reply.raw);
      const streamed = request.body.stream ?? false;
      const begun = await turnFor(http, request, gone);
      // a turn takes minutes; up to 64 MiB need not wait with it
      request.body = undefined as never;
      http.letGo(request);
      reply.header("x-thread-id", begun.turn.thread_id);
      return streamed ? answerStreamed(http, reply, begun, gone) : answerBuffered(http, reply, begun, gone);
    },
  );
}
