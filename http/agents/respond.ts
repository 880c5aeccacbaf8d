import type { FastifyReply, FastifyRequest } from "fastify";
import { streamOf } from "#events/ids.ts";
import { newestTurn } from "#projections/turns/query.ts";
import type { AgentRow } from "#projections/agents/query.ts";
import type { Ask } from "../chat/ask.ts";
import { beginTurn, rejoinTurn, type Begun } from "../chat/begin.ts";
import { earlierTurn, identityOf, threadOf } from "../chat/identity.ts";
import { findModel } from "../chat/model.ts";
import { goneSignal, noteUnanswered, onGone } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { ApiError, badGateway } from "../errors.ts";
import { answerAgain, answeredBefore } from "./again.ts";
import { answerBuffered } from "./buffered.ts";
import { checkFixed } from "./check.ts";
import { checkThread, findAgent, findResponse, scopeFor } from "./find.ts";
import { followResponse, replayResponse } from "./follow.ts";
import { answeredCall, readInput } from "./input.ts";
import type { ResponseHead } from "./present.ts";
import type { ResponseRequest } from "./schema.ts";
import { askedIn, endedAt, headOf } from "./stored.ts";
import { merged, varsOf } from "./vars.ts";

/** A streamed response has no time limit (spec: Limits); a turn that nobody ends is ended after this. */
const STREAMED_MS = 7 * 24 * 60 * 60 * 1000;

/** Where a response goes on: the thread, and the response that the caller named. */
interface Continuing {
  thread_id: string | undefined;
  previous_turn_id: string | null;
}

/** Throws `invalid_thread_id`, `thread_not_found`, `invalid_response_id`, `response_not_found`. */
async function continuing(
  http: Http,
  request: FastifyRequest,
  scope: string,
  previous: string | null | undefined,
): Promise<Continuing> {
  const { organization_id } = request.caller;
  const sent = threadOf(request);
  if (previous === undefined || previous === null) {
    if (sent) await checkThread(http, organization_id, sent, scope);
    return { thread_id: sent, previous_turn_id: null };
  }
  const row = await findResponse(http, organization_id, scope, previous, "previous_response_id");
  if (sent && sent !== row.thread_id)
    throw new ApiError("invalid_thread_id", "x-thread-id and previous_response_id name different threads.", {
      param: "x-thread-id",
    });
  // its vars are those of the newest turn, whichever this one is
  await http.freshRead(["turns"], streamOf("thread", row.thread_id));
  return { thread_id: row.thread_id, previous_turn_id: row.id };
}

/** The vars of a thread as its newest turn has them. */
async function varsBefore(http: Http, organization: string, thread: string | undefined, scope: string) {
  const newest = thread && (await newestTurn(http.db, organization, thread, scope));
  return newest ? (await askedIn(http, await findResponse(http, organization, scope, newest))).vars : {};
}

function modelOf({ model }: AgentRow): string {
  if (model) return model;
  throw new ApiError("model_not_configured", "The agent has no model.", { param: "agent_id" });
}

async function askOf(
  http: Http,
  request: FastifyRequest,
  agent: AgentRow,
  body: ResponseRequest,
  { thread_id, previous_turn_id }: Continuing,
): Promise<Ask> {
  const { instructions, messages } = readInput(body);
  const { organization_id } = request.caller;
  const user = body.user ?? undefined;
  const sent = varsOf(body);
  const before = await varsBefore(http, organization_id, thread_id, scopeFor(request.caller, user, agent));
  const own = [body.instructions, ...instructions].filter((text) => text != null && text !== "");
  return {
    model: modelOf(agent),
    // told to whoever reads along, now or later, also when this request waits for the whole
    streamed: true,
    include_usage: false,
    limit_ms: body.stream ? STREAMED_MS : http.settings.TURN_SECONDS * 1000,
    user,
    messages,
    collections: null,
    agent: {
      agent_id: agent.id,
      version: agent.version,
      expose_tool_items: agent.expose_tool_items,
      previous_turn_id,
    },
    settings: {
      instructions: own.length > 0 ? own.join("\n\n") : null,
      temperature: null,
      top_p: null,
      max_output_tokens: null,
      stop: [],
      seed: null,
      response_format: { type: "text" },
      user: user ?? null,
      vars: merged(before, sent),
      tools: agent.tools,
      tool_choice: "auto",
      knowledge: agent.collections && { collections: agent.collections },
      agent: { instructions: agent.instructions, reasoning_effort: body.reasoning?.effort ?? agent.reasoning_effort },
    },
  };
}

const headFor = ({ turn }: Begun, { settings, agent }: Ask): ResponseHead => ({
  turn_id: turn.turn_id,
  thread_id: turn.thread_id,
  model: turn.model,
  instructions: settings.instructions,
  previous_turn_id: agent!.previous_turn_id,
  user: settings.user,
  vars: settings.vars,
  reasoning_effort: settings.agent!.reasoning_effort,
  expose_tool_items: agent!.expose_tool_items,
});

interface Answering {
  scope: string;
  streamed: boolean;
  gone: AbortSignal;
}

/** The turn that answers a request, with what is known of it: an earlier one that it repeats, whatever became of what it names since, or a new one. */
async function turnFor(
  http: Http,
  request: FastifyRequest,
  agent: AgentRow,
  body: ResponseRequest,
  { scope, gone }: Answering,
): Promise<{ begun: Begun; head: ResponseHead | undefined }> {
  const { caller } = request;
  const identity = identityOf(request, `/agents/${agent.id}/responses`, body.user ?? undefined);
  const earlier = await earlierTurn(http, request, identity);
  if (earlier) return { begun: await rejoinTurn(http, { include_usage: false }, earlier), head: undefined };
  const from = await continuing(http, request, scope, body.previous_response_id);
  const ask = await askOf(http, request, agent, body, from);
  if (!(await findModel(http, { ...caller, allowed_models: null }, ask.model)))
    throw badGateway(`The agent's model ${ask.model} is not enabled.`);
  const begun = await beginTurn(http, request, ask, { ...identity, thread_id: from.thread_id }, gone);
  return { begun, head: begun.end ? undefined : headFor(begun, ask) };
}

/** POST /responses, buffered and streamed (spec: Agent API). */
export async function respond(
  http: Http,
  request: FastifyRequest,
  reply: FastifyReply,
  agent_id: string,
  body: ResponseRequest,
) {
  const { caller } = request;
  const agent = await findAgent(http, caller, agent_id);
  checkFixed(body);
  const scope = scopeFor(caller, body.user ?? undefined, agent);
  const answering: Answering = { scope, streamed: body.stream ?? false, gone: goneSignal(reply.raw) };
  const answered = await answeredBefore(http, caller.organization_id, scope, answeredCall(body), answering.gone);
  if (answered) return answerAgain(http, reply, answered, answering.streamed);
  const { begun, head } = await turnFor(http, request, agent, body, answering);
  request.body = undefined;
  http.letGo(request);
  reply.header("x-thread-id", begun.turn.thread_id);
  if (!answering.streamed) return answerBuffered(http, reply, begun, scope, answering.gone);
  return answerStreamed(http, reply, begun, head, answering);
}

async function answerStreamed(
  http: Http,
  reply: FastifyReply,
  begun: Begun,
  known: ResponseHead | undefined,
  { scope, gone }: Answering,
) {
  const { organization_id, turn_id } = begun.turn;
  onGone(gone, () => void noteUnanswered(http, begun.turn));
  try {
    const row = known ? undefined : await findResponse(http, organization_id, scope, turn_id);
    const head = known ?? (await headOf(http, row!));
    if (row && endedAt(row)) return await replayResponse(http, reply, { head, row, startAfter: -1 });
    const end = await followResponse(http, reply, { organization_id, head, feed: begun.feed, startAfter: -1, gone });
    if (end) http.metrics.turn(end);
    else if (http.closing.aborted) await noteUnanswered(http, begun.turn);
  } catch (error) {
    // the turn goes on: its request, when it comes again, is answered with it
    await noteUnanswered(http, begun.turn);
    throw error;
  } finally {
    begun.feed.close();
  }
}
