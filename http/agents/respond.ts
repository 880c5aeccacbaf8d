import type { FastifyReply, FastifyRequest } from "fastify";
import type { AgentRow } from "#projections/agents/query.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal, onDisconnect } from "../base/disconnect.ts";
import { ApiError, badGateway } from "../base/errors.ts";
import { liftTimeLimit } from "../base/requestTime.ts";
import { resolveModel } from "../base/model.ts";
import { findPreviousTurn, identifyTurn } from "../turns/previousTurn.ts";
import { findResultsTurn } from "../turns/resultsTurn.ts";
import { resumeTurn } from "../turns/resumeTurn.ts";
import { startTurn } from "../turns/startTurn.ts";
import { turnHeaders, type AttachedTurn } from "../turns/turnHandle.ts";
import type { TurnRequest } from "../turns/turnRequest.ts";
import { recordAbandonedTurn } from "../turns/recordAbandonedTurn.ts";
import { answerBuffered } from "./answerBuffered.ts";
import { buildTurnRequest, findContinuation } from "./buildTurnRequest.ts";
import { refuseAgentFields } from "./checkRequest.ts";
import { followResponse, replayResponse } from "./followResponse.ts";
import { resolveReferences } from "./itemReferences.ts";
import { findResponse, responseScope } from "./lookups.ts";
import { measureHead, type ResponseHead } from "./present.ts";
import { readToolResultCalls } from "./readInput.ts";
import { findRepeatedTurn } from "./repeatedToolResult.ts";
import { resendAnswer } from "./resendAnswer.ts";
import { START } from "./responseStream.ts";
import type { ResponseRequest } from "./schema.ts";
import { readResponseEnd, readHead } from "./storedResponse.ts";

const headFrom = ({ turn }: AttachedTurn, { settings, agent }: TurnRequest): ResponseHead => ({
  turn_id: turn.turn_id,
  thread_id: turn.thread_id,
  model: turn.model,
  instructions: settings.instructions,
  previous_turn_id: agent!.previous_turn_id,
  user: settings.user,
  vars: settings.vars,
  reasoning_effort: settings.agent!.reasoning_effort,
  max_output_tokens: settings.max_output_tokens,
  expose_tool_items: agent!.expose_tool_items,
});

/** Maximum wait for a thread that other requests are changing. */
const CHANGING_MS = 20_000;

interface AnswerOptions {
  scope: string;
  streamed: boolean;
  disconnected: AbortSignal;
}

interface AttachedResponse {
  attached: AttachedTurn;
  /** Undefined for a turn that an earlier request started: then the read model has it. */
  head: ResponseHead | undefined;
}

/** Finds the turn that an earlier delivery of the request started. */
async function findEarlier(http: Http, request: FastifyRequest, agent: AgentRow, body: ResponseRequest) {
  const identity = identifyTurn(request, `/agents/${agent.id}/responses`, body.user ?? undefined);
  if (agent.client_tools && readToolResultCalls(body).length > 0) return findResultsTurn(http, request, identity);
  return { identity, previous: await findPreviousTurn(http, request, identity) };
}

/** Returns the turn for a request: the one an earlier delivery started, or a new one. */
async function attachTurn(
  http: Http,
  reply: FastifyReply,
  agent: AgentRow,
  body: ResponseRequest,
  { scope, streamed, disconnected }: AnswerOptions,
): Promise<AttachedResponse> {
  const { request } = reply;
  const { identity, previous } = await findEarlier(http, request, agent, body);
  if (previous) return { attached: await resumeTurn(http, { include_usage: false }, previous), head: undefined };
  const continuation = await findContinuation(http, request, scope, body.previous_response_id);
  const { organization_id } = request.caller;
  const countBytes = (bytes: number) => request.countBytes(bytes);
  const reach = { organization_id, scope, thread_id: continuation.thread_id, countBytes, disconnected };
  const resolved = await resolveReferences(http, reach, body);
  const continued = { ...identity, thread_id: continuation.thread_id };
  return whileThreadChanges(disconnected, async () => {
    const turnRequest = await buildTurnRequest(http, request, agent, resolved, continuation);
    if (streamed) http.streams.countKept(reply, measureHead(turnRequest.settings));
    const model = await resolveModel(http, { ...request.caller, allowed_models: null }, turnRequest.model);
    if (!model) throw badGateway(`The agent's model ${turnRequest.model} is not enabled.`);
    const routed = { ...turnRequest, route: model.route };
    const attached = await startTurn(http, request, routed, continued, disconnected);
    return { attached, head: attached.end ? undefined : headFrom(attached, turnRequest) };
  });
}

/** Retries the start with a newly built turn, because a turn that came first may have changed the thread's vars. */
async function whileThreadChanges<T>(disconnected: AbortSignal, start: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + CHANGING_MS; ; )
    try {
      return await start();
    } catch (error) {
      const hasChanged = error instanceof ApiError && error.errorCode === "thread_changed";
      if (!hasChanged || disconnected.aborted || performance.now() > until) throw error;
    }
}

/** POST /responses, buffered and streamed (spec: Agent API). */
export async function respond(http: Http, request: FastifyRequest, reply: FastifyReply, body: ResponseRequest) {
  const { caller, agent } = request;
  refuseAgentFields(body, agent);
  http.streams.countTurnRequest(reply);
  const scope = responseScope(caller, body.user ?? undefined, agent);
  const streamed = body.stream ?? false;
  const disconnected = disconnectSignal(reply.raw);
  const calls = readToolResultCalls(body);
  // the newest call of an id counts, and it may be a moment old
  if (agent.client_tools && calls.length > 0) await http.waitUntilCurrent(["turns"]);
  const options: AnswerOptions = { scope, streamed, disconnected };
  // frees the body, because the turn may run for minutes
  const release = () => {
    request.body = undefined;
    http.releaseBody(request);
    liftTimeLimit();
  };
  const repeated = await findRepeatedTurn(http, caller.organization_id, scope, calls);
  if (repeated) {
    release();
    return resendAnswer(http, reply, repeated, options);
  }
  const { attached, head } = await attachTurn(http, reply, agent, body, options);
  release();
  reply.headers(turnHeaders(attached));
  if (!streamed) return answerBuffered(http, reply, attached, scope, disconnected);
  return answerStreamed(http, reply, { attached, head }, options);
}

async function answerStreamed(
  http: Http,
  reply: FastifyReply,
  { attached, head: knownHead }: AttachedResponse,
  { scope, disconnected }: AnswerOptions,
) {
  const { turn, reader } = attached;
  const { organization_id, turn_id } = turn;
  onDisconnect(disconnected, () => void recordAbandonedTurn(http, turn));
  try {
    const row = knownHead ? undefined : await findResponse(http, organization_id, scope, turn_id);
    const head = knownHead ?? (await readHead(http, row!));
    http.streams.countKept(reply, measureHead(head));
    if (row && readResponseEnd(row)) return await replayResponse(http, reply, { head, row, startAfter: -1 });
    const end = await followResponse(http, reply, { organization_id, head, reader, place: START, disconnected, row });
    if (end) http.metrics.turn(end);
    else if (http.closing.aborted) await recordAbandonedTurn(http, turn);
  } catch (error) {
    // the turn continues, so a repeated request can get its answer
    await recordAbandonedTurn(http, turn);
    throw error;
  } finally {
    reader.close();
  }
}
