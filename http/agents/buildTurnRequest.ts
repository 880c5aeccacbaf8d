import type { FastifyRequest } from "fastify";
import { streamName } from "#events/ids.ts";
import { DAY_MS } from "#events/units.ts";
import type { AgentRow } from "#projections/agents/query.ts";
import { newestTurn } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { readResults } from "../turns/callResults.ts";
import { readThreadId } from "../turns/previousTurn.ts";
import type { TurnRequest } from "../turns/turnRequest.ts";
import { checkThread, findResponse, responseScope } from "./lookups.ts";
import { readInput } from "./readInput.ts";
import { findOwnTools, readTools } from "./requestTools.ts";
import type { ResponseRequest } from "./schema.ts";
import { runsEveryCall } from "./runsEveryCall.ts";
import { readSettings } from "./storedResponse.ts";
import { mergeVars, readVars } from "./vars.ts";

/** Limit for a turn that never ends. The spec sets no time limit for streamed responses (spec: Limits). */
const STREAMED_MS = 7 * DAY_MS;

/** What a response continues. */
interface Continuation {
  thread_id: string | undefined;
  /** The turn of the response that the caller named. */
  previous_turn_id: string | null;
}

/** Throws `invalid_thread_id`, `thread_not_found`, `invalid_response_id`, `response_not_found`. */
export async function findContinuation(
  http: Http,
  request: FastifyRequest,
  scope: string,
  previous: string | null | undefined,
): Promise<Continuation> {
  const { organization_id } = request.caller;
  const sent = readThreadId(request);
  if (previous === undefined || previous === null) {
    if (sent) await checkThread(http, organization_id, sent, scope);
    return { thread_id: sent, previous_turn_id: null };
  }
  const row = await findResponse(http, organization_id, scope, previous, "previous_response_id");
  if (sent && sent !== row.thread_id)
    throw new ApiError("invalid_thread_id", "x-thread-id and previous_response_id name different threads.", {
      param: "x-thread-id",
    });
  return { thread_id: row.thread_id, previous_turn_id: row.id };
}

/** The vars of a thread, from its newest turn. */
async function threadVars(http: Http, organization: string, thread: string | undefined, scope: string) {
  if (thread === undefined) return { vars: {}, follows: null };
  // the vars come from the thread's newest turn, which need not be the one being continued
  await http.waitUntilCurrent(["turns"], streamName("thread", thread));
  const follows = (await newestTurn(http.db, organization, thread, scope)) ?? null;
  if (follows === null) return { vars: {}, follows };
  const { vars } = await readSettings(http, await findResponse(http, organization, scope, follows));
  return { vars, follows };
}

function requireModel({ model }: AgentRow): string {
  if (model) return model;
  throw new ApiError("model_not_configured", "The agent has no model.", { param: "agent_id" });
}

/** Builds the turn for a response request, with the agent's settings. */
export async function buildTurnRequest(
  http: Http,
  request: FastifyRequest,
  agent: AgentRow,
  body: ResponseRequest,
  { thread_id, previous_turn_id }: Continuation,
): Promise<TurnRequest> {
  const { caller } = request;
  const user = body.user ?? undefined;
  const scope = responseScope(caller, user, agent);
  const { vars, follows } = await threadVars(http, caller.organization_id, thread_id, scope);
  const ownTools = await findOwnTools(http, caller.organization_id, agent, body, { thread_id, scope });
  const { instructions, messages: sent } = readInput(body, ownTools);
  const { messages, answers } = readResults(sent, thread_id !== undefined);
  const sentVars = readVars(body);
  const ownInstructions = [body.instructions, ...instructions].filter((text) => text != null && text !== "");
  const { id: agent_id, version } = agent;
  const expose_tool_items = agent.expose_tool_items && !runsEveryCall(request);
  return {
    model: requireModel(agent),
    // frames are retained for readers that attach later, also when this request waits for the whole response
    streamed: true,
    include_usage: false,
    limit_ms: body.stream ? STREAMED_MS : http.settings.TURN_SECONDS * 1000,
    user,
    messages,
    answers,
    follows,
    collections: null,
    agent: { agent_id, version, expose_tool_items, previous_turn_id },
    project_id: agent.project_id,
    settings: {
      instructions: ownInstructions.length > 0 ? ownInstructions.join("\n\n") : null,
      temperature: null,
      top_p: null,
      max_output_tokens: body.max_output_tokens ?? null,
      stop: [],
      seed: null,
      response_format: { type: "text" },
      user: user ?? null,
      vars: mergeVars(vars, sentVars),
      tools: agent.tools,
      ...readTools(agent, body),
      knowledge: agent.collections && { collections: agent.collections },
      agent: {
        instructions: agent.instructions,
        reasoning_effort: body.reasoning?.effort ?? agent.reasoning_effort,
        ...(Object.keys(agent.tool_approvals).length > 0 && { tool_approvals: agent.tool_approvals }),
      },
    },
  };
}
