import type { FastifyRequest } from "fastify";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { liftTimeLimit } from "../base/requestTime.ts";
import { validator } from "../base/validate.ts";
import { modelNotFound, resolveModel } from "../base/model.ts";
import { findPreviousTurn, identifyTurn, type PreviousTurn, type TurnIdentity } from "../turns/previousTurn.ts";
import { findResultsTurn } from "../turns/resultsTurn.ts";
import { resumeTurn } from "../turns/resumeTurn.ts";
import { startTurn } from "../turns/startTurn.ts";
import { turnHeaders, type AttachedTurn } from "../turns/turnHandle.ts";
import type { TurnRequest } from "../turns/turnRequest.ts";
import { answerBuffered, answerStreamed } from "./answer.ts";
import { readCompletion } from "./readCompletion.ts";
import { lookUpTools } from "./requestTools.ts";
import { COMPLETION_CODES, Completion, CompletionRequest } from "./schema.ts";

const BODY_LIMIT = 64 * 1024 * 1024;

/** Finds the turn that an earlier delivery of this request started. */
async function findEarlier(
  http: Http,
  request: FastifyRequest,
  { messages, user }: TurnRequest,
): Promise<{ identity: TurnIdentity; previous: PreviousTurn | undefined }> {
  const identity = identifyTurn(request, "/chat/completions", user);
  if (messages.at(-1)?.role === "tool") return findResultsTurn(http, request, identity);
  return { identity, previous: await findPreviousTurn(http, request, identity) };
}

/** Returns the turn for this request: the one an earlier delivery started, or a new one. */
async function attachTurn(http: Http, request: FastifyRequest, disconnected: AbortSignal): Promise<AttachedTurn> {
  const body = request.body as CompletionRequest;
  const completion = readCompletion(body, {
    hasOwnTools: request.caller.client_tools ?? false,
    continues: request.headers["x-thread-id"] !== undefined,
  });
  const { model: id, settings, collections } = completion;
  const { identity, previous } = await findEarlier(http, request, completion);
  if (previous) return resumeTurn(http, completion, previous);
  const model = await resolveModel(http, request.caller, id);
  if (!model) throw modelNotFound(id, 400);
  const needsLookUp = settings.tools.length > 0 || collections !== null;
  const turnRequest = needsLookUp ? await lookUpTools(http, request.caller, completion, body) : completion;
  return startTurn(http, request, { ...turnRequest, route: model.route }, identity, disconnected);
}

/** POST /chat/completions, buffered or streamed (spec: Chat API). */
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
          "The response header `x-thread-id` names the stored thread; send it on a request to continue that thread.",
        security: [{ key: [] }],
        body: CompletionRequest,
        response: { 200: Completion },
      },
    },
    async (request, reply) => {
      http.streams.countTurnRequest(reply);
      const disconnected = disconnectSignal(reply.raw);
      const streamed = request.body.stream ?? false;
      const attached = await attachTurn(http, request, disconnected);
      // frees up to 64 MiB, because the turn may run for minutes
      request.body = undefined as never;
      http.releaseBody(request);
      liftTimeLimit();
      reply.headers(turnHeaders(attached));
      return streamed
        ? answerStreamed(http, reply, attached, disconnected)
        : answerBuffered(http, reply, attached, disconnected);
    },
  );
}
