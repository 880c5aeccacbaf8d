import type { FastifyRequest } from "fastify";
import { isUuid, streamOf } from "#events/ids.ts";
import { scopeOf } from "#events/scope.ts";
import { getAgent, type AgentRow } from "#projections/agents/query.ts";
import { getTurn, threadExists, type TurnRow } from "#projections/turns/query.ts";
import type { Caller } from "../auth/caller.ts";
import { threadOf } from "../chat/identity.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { turnIdOf } from "./check.ts";

type Needs = Pick<Http, "db" | "freshRead">;

const isInReach = ({ project_id }: Caller, agent: AgentRow): boolean =>
  project_id === null || agent.project_id === null || agent.project_id === project_id;

/** The agent in the path. Throws `invalid_agent_id`, `agent_not_found`, `agent_api_disabled` (spec: Errors, Agent API). */
export async function findAgent({ db, freshRead }: Needs, caller: Caller, id: string): Promise<AgentRow> {
  if (!isUuid(id))
    throw new ApiError("invalid_agent_id", "The agent id in the path must be a UUID.", { param: "agent_id" });
  const find = () => getAgent(db, caller.organization_id, id.toLowerCase());
  let agent = await find();
  if (!agent) {
    await freshRead(["agents"], streamOf("agent", id.toLowerCase()));
    agent = await find();
  }
  if (!agent || !isInReach(caller, agent))
    throw new ApiError("agent_not_found", "There is no such agent for this credential.", { param: "agent_id" });
  if (!agent.api_enabled)
    throw new ApiError("agent_api_disabled", "The API is not enabled on this agent.", { param: "agent_id" });
  return agent;
}

/** A turn of an agent. */
export type ResponseRow = TurnRow & { agent: NonNullable<TurnRow["agent"]> };

export const scopeFor = ({ principal }: Caller, user: string | undefined, agent: AgentRow): string =>
  scopeOf(principal, user, agent.id);

const responseNotFound = (param: string) =>
  new ApiError("response_not_found", "There is no such response for this key, user and agent.", { param });

/**
 * A response of a scope, as it stands now: one that is not found may have begun a moment ago, and one that runs may have
 * ended. Throws `invalid_response_id`, `response_not_found`.
 */
export async function findResponse(
  { db, freshRead }: Needs,
  organization: string,
  scope: string,
  id: string,
  param = "id",
): Promise<ResponseRow> {
  const turn_id = turnIdOf(id, param);
  const find = () => getTurn(db, organization, turn_id);
  let row = await find();
  if (!row) {
    await freshRead(["turns"]);
    row = await find();
  } else if (row.status === "running" && row.scope === scope) {
    await freshRead(["turns"], streamOf("thread", row.thread_id));
    row = await find();
  }
  if (!row?.agent || row.scope !== scope || row.status === "refused") throw responseNotFound(param);
  return row as ResponseRow;
}

/** Throws `thread_not_found` unless the scope has this thread. */
export async function checkThread({ db, freshRead }: Needs, organization: string, thread: string, scope: string) {
  await freshRead(["turns"], streamOf("thread", thread));
  if (!(await threadExists(db, organization, thread, scope)))
    throw new ApiError("thread_not_found", "There is no such thread for this key, user and agent.", {
      param: "x-thread-id",
    });
}

/** What routes of one response share. */
export async function located(http: Needs, request: FastifyRequest<any>) {
  const { agent_id, id } = request.params as { agent_id: string; id: string };
  const { user } = request.query as { user?: string };
  threadOf(request);
  const agent = await findAgent(http, request.caller, agent_id);
  const scope = scopeFor(request.caller, user, agent);
  return { agent, scope, row: await findResponse(http, request.caller.organization_id, scope, id) };
}
