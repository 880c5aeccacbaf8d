import type { FastifyRequest } from "fastify";
import { isUuid } from "#events/ids.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey } from "../idempotency.ts";
import type { App } from "../app.ts";
import { validator } from "../validate.ts";
import { answerBuffered, answerStreamed } from "./answer.ts";
import { askOf } from "./ask.ts";
import { beginTurn, rejoinTurn, type Begun, type Identity } from "./begin.ts";
import { findNamed, joinEarlier } from "./join.ts";
import { findModel, modelNotFound } from "./model.ts";
import { COMPLETION_CODES, Completion, CompletionRequest } from "./schema.ts";
import { lookUpTools } from "./tools.ts";
import { goneSignal } from "./unanswered.ts";

const BODY_LIMIT = 64 * 1024 * 1024;

function threadOf(request: FastifyRequest): string | undefined {
  const sent = request.headers["x-thread-id"];
  if (sent === undefined) return undefined;
  if (typeof sent === "string" && isUuid(sent)) return sent.toLowerCase();
  throw new ApiError("invalid_thread_id", "x-thread-id must be a UUID.", { param: "x-thread-id" });
}

function identityOf(request: FastifyRequest, user: string | undefined): Identity {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user, method: "POST", path: "/chat/completions" };
  const key = idempotencyKey(request.headers);
  const thread_id = threadOf(request);
  const fingerprint = fingerprintOf(asking, request.bodyHash, [thread_id ?? ""]);
  return { command_id: commandId(asking, key), fingerprint, named: key !== undefined, thread_id };
}

/** The turn that the request repeats: the one of its key or, without one, where it says that it is a retry, one that was left. */
async function earlierTurn(http: Http, request: FastifyRequest, identity: Identity) {
  const { organization_id } = request.caller;
  if (identity.named) return findNamed(http, organization_id, identity);
  const retried = Number(request.headers["x-stainless-retry-count"]) > 0;
  return retried ? joinEarlier(http, organization_id, identity.fingerprint) : undefined;
}

/** The turn that answers a request: an earlier one that it repeats, or a new one. */
async function turnFor(http: Http, request: FastifyRequest, gone: AbortSignal): Promise<Begun> {
  const ask = askOf(request.body as CompletionRequest);
  const identity = identityOf(request, ask.user);
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
