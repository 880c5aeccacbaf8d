import type { FastifyRequest } from "fastify";
import { isUuid, streamName } from "#events/ids.ts";
import { ownerScope } from "#events/scope.ts";
import { getAgent, type AgentRow } from "#projections/agents/query.ts";
import { getTurn, type TurnRow } from "#projections/turns/query.ts";
import { threadExists } from "#projections/turns/threadTurns.ts";
import { reachesProject, type Caller } from "../base/caller.ts";
import { readThreadId } from "../turns/previousTurn.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";
import { parseResponseId } from "./checkRequest.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The agent in the path; set only on the route that creates responses. */
    agent: AgentRow;
  }
}

type Needs = Pick<Http, "db" | "waitUntilCurrent">;

/** Finds the agent in the path. Throws `invalid_agent_id`, `agent_not_found`, `agent_api_disabled` (spec: Errors, Agent API). */
export async function findAgent({ db, waitUntilCurrent }: Needs, caller: Caller, id: string): Promise<AgentRow> {
  if (!isUuid(id))
    throw new ApiError("invalid_agent_id", "The agent id in the path must be a UUID.", { param: "agent_id" });
  const agent_id = id.toLowerCase();
  const agent = await findOrWait(
    () => getAgent(db, caller.organization_id, agent_id),
    () => waitUntilCurrent(["agents"], streamName("agent", agent_id)),
  );
  if (!agent || !reachesProject(caller, agent.project_id))
    throw new ApiError("agent_not_found", "There is no such agent for this credential.", { param: "agent_id" });
  if (!agent.api_enabled)
    throw new ApiError("agent_api_disabled", "The API is not enabled on this agent.", { param: "agent_id" });
  return agent;
}

/** The turn of a response. */
export type ResponseRow = TurnRow & { agent: NonNullable<TurnRow["agent"]> };

export const responseScope = ({ principal }: Caller, user: string | undefined, agent: AgentRow): string =>
  ownerScope(principal, user, agent.id);

const responseNotFound = (param: string) =>
  new ApiError("response_not_found", "There is no such response for this key, user and agent.", { param });

/**
 * Finds the current state of a response. If it is missing or running, waits for the read model once, because it may have started
 * or ended a moment ago. Throws `invalid_response_id`, `response_not_found`.
 */
export async function findResponse(
  { db, waitUntilCurrent }: Needs,
  organization: string,
  scope: string,
  id: string,
  param = "id",
): Promise<ResponseRow> {
  const turn_id = parseResponseId(id, param);
  const find = () => getTurn(db, organization, turn_id);
  let row = await findOrWait(find, () => waitUntilCurrent(["turns"]));
  if (row?.status === "running" && row.scope === scope) {
    await waitUntilCurrent(["turns"], streamName("thread", row.thread_id));
    row = await find();
  }
  if (!row?.agent || row.scope !== scope || row.status === "refused") throw responseNotFound(param);
  return row as ResponseRow;
}

/** Whether the scope has this thread, whose newest turn may be a moment old. */
export async function hasThread({ db, waitUntilCurrent }: Needs, organization: string, thread: string, scope: string) {
  await waitUntilCurrent(["turns"], streamName("thread", thread));
  return threadExists(db, organization, thread, scope);
}

/** Throws `thread_not_found` unless the scope has this thread. */
export async function checkThread(http: Needs, organization: string, thread: string, scope: string) {
  if (!(await hasThread(http, organization, thread, scope)))
    throw new ApiError("thread_not_found", "There is no such thread for this key, user and agent.", {
      param: "x-thread-id",
    });
}

/** The agent and the response that the path of a request names. */
export async function findRequestedResponse(http: Needs, request: FastifyRequest<any>) {
  const { agent_id, id } = request.params as { agent_id: string; id: string };
  const { user } = request.query as { user?: string };
  const agent = await findAgent(http, request.caller, agent_id);
  readThreadId(request);
  const scope = responseScope(request.caller, user, agent);
  return { agent, scope, row: await findResponse(http, request.caller.organization_id, scope, id) };
}
