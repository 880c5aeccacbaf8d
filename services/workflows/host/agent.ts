import type { Usage } from "#events/thread.ts";
import { StepFailure } from "../tick.ts";
import { isListed } from "./allows.ts";
import { reachOf, type Collections } from "./collections.ts";
import { wrong, type InputOf } from "./input.ts";
import { checkModel, checkTools, promptOf } from "./prompt.ts";
import type { Asking } from "./step.ts";
import { takeTurn, type TurnDeps } from "./turns.ts";

/** An agent as it is set up. */
export interface AgentOnFile {
  id: string;
  version: number;
  instructions: string;
  /** `provider/model`; null: it has none yet. */
  model: string | null;
  tools: string[];
  /** Ids; null: every collection of the organization. */
  collections: string[] | null;
  reasoning_effort: string | null;
  project_id: string | null;
  expose_tool_items: boolean;
}

export interface Agents {
  find(organization: string, id: string): Promise<AgentOnFile | undefined>;
}

interface AgentDeps extends TurnDeps {
  agents: Agents;
  collections: Collections;
}

const usageOf = (usage: Usage) => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.prompt_tokens + usage.completion_tokens,
});

/** An agent that the envelope allows; one of another organization or project is not there. */
async function agentFor({ agents }: AgentDeps, { step, standing }: Asking, id: string) {
  if (!isListed(standing.envelope.agents, id))
    throw new StepFailure("agent_not_allowed", `The agent ${id} is not in the workflow's envelope.agents.`, {
      final: true,
    });
  const agent = await agents.find(step.organization_id, id);
  const { project_id } = standing;
  if (!agent || (project_id !== null && agent.project_id !== null && agent.project_id !== project_id))
    throw wrong("agent: agent_id: there is no such agent.");
  if (agent.model === null) throw wrong("agent: agent_id: the agent has no model.");
  return { ...agent, model: agent.model };
}

/** What both the agent and the envelope allow; null: every collection. */
const inBoth = (own: string[] | null, allowed: string[] | null): string[] | null =>
  own && allowed ? own.filter((id) => allowed.includes(id)) : (own ?? allowed);

/**
 * One answer of an agent, within what the envelope allows whatever the agent may do elsewhere:
 * `{response_id, thread_id, output_text, usage}`.
 */
export async function runAgent(deps: AgentDeps, asking: Asking, sent: InputOf<"agent">) {
  const { step, standing, call, signal } = asking;
  const { organization_id } = step;
  const { envelope } = standing;
  const agent = await agentFor(deps, asking, sent.agent_id);
  checkModel(envelope.models, agent.model);
  checkTools(envelope.tools, agent.tools);
  const field = "agent: agent_id";
  const allowed = await reachOf(deps.collections, {
    organization_id,
    allowed: envelope.collections,
    named: null,
    field,
  });
  const collections = inBoth(agent.collections, allowed);
  const prompt = {
    ...promptOf(sent.input),
    vars: sent.vars ?? {},
    tools: agent.tools,
    knowledge: collections && { collections },
    agent: { instructions: agent.instructions, reasoning_effort: agent.reasoning_effort },
  };
  const { id: agent_id, version, expose_tool_items, model } = agent;
  const of = { agent_id, version, expose_tool_items, previous_turn_id: null };
  const ask = { call, model, prompt, agent: of, thread_id: sent.thread_id ?? null };
  const { thread_id, turn_id, end } = await takeTurn(deps, step, ask, signal);
  return { response_id: `resp_${turn_id}`, thread_id, output_text: end.said.text, usage: usageOf(end.usage) };
}
