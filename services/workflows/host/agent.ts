import type { ToolApprovals } from "#events/toolApproval.ts";
import { type Usage } from "#events/thread.ts";
import { answerText, presentCost } from "#events/turnOutput.ts";
import type { CallInput } from "../stepInputs.ts";
import { StepFailure } from "../tick.ts";
import { isListed } from "./envelopeRules.ts";
import { resolveCollections, type Collections } from "./collections.ts";
import { invalidInput } from "./input.ts";
import { buildPrompt, checkModel, checkTools } from "./prompt.ts";
import type { HostCall } from "./step.ts";
import { completeTurn, type TurnDeps } from "./completeTurn.ts";

export interface AgentSettings {
  id: string;
  version: number;
  instructions: string;
  /** `provider/model`; null until it is set. */
  model: string | null;
  tools: string[];
  /** Ids; null: all of the organization. */
  collections: string[] | null;
  reasoning_effort: string | null;
  project_id: string | null;
  expose_tool_items: boolean;
  tool_approvals: ToolApprovals;
}

export interface Agents {
  find(organization: string, id: string): Promise<AgentSettings | undefined>;
}

interface AgentDeps extends TurnDeps {
  agents: Agents;
  collections: Collections;
}

const presentUsage = (usage: Usage) => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens ?? 0 },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.prompt_tokens + usage.completion_tokens,
  ...presentCost(usage),
});

/** The agent, if the envelope allows it. An agent of another organization or project does not exist for the step. */
async function findAgent({ agents }: AgentDeps, { step, permissions }: HostCall, id: string) {
  if (!isListed(permissions.envelope.agents, id))
    throw new StepFailure("agent_not_allowed", `The agent ${id} is not in the workflow's envelope.agents.`, {
      final: true,
    });
  const agent = await agents.find(step.organization_id, id);
  const { project_id } = step;
  if (!agent || (project_id !== null && agent.project_id !== null && agent.project_id !== project_id))
    throw invalidInput("agent: agent_id: there is no such agent.");
  if (agent.model === null) throw invalidInput("agent: agent_id: the agent has no model.");
  return { ...agent, model: agent.model };
}

/** The collections that both the agent and the envelope allow; null: all. */
const intersect = (own: string[] | null, allowed: string[] | null): string[] | null =>
  own && allowed ? own.filter((id) => allowed.includes(id)) : (own ?? allowed);

/**
 * Asks an agent once: `{response_id, thread_id, output_text, usage}`. The envelope limits the agent, whatever it may do
 * elsewhere.
 */
export async function runAgent(deps: AgentDeps, hostCall: HostCall, input: CallInput<"agent">) {
  const { step, permissions, call, signal } = hostCall;
  const { organization_id } = step;
  const { envelope } = permissions;
  const agent = await findAgent(deps, hostCall, input.agent_id);
  checkModel(envelope.models, agent.model);
  checkTools(envelope.tools, agent.tools);
  const field = "agent: agent_id";
  const allowed = await resolveCollections(deps.collections, {
    organization_id,
    allowed: envelope.collections,
    named: null,
    field,
  });
  const collections = intersect(agent.collections, allowed);
  const prompt = {
    ...buildPrompt(input.input),
    vars: input.vars ?? {},
    tools: agent.tools,
    knowledge: collections && { collections },
    agent: {
      instructions: agent.instructions,
      reasoning_effort: agent.reasoning_effort,
      // a step cannot wait for people: calls of these tools do not run
      tool_approvals: agent.tool_approvals,
    },
  };
  const { id: agent_id, version, expose_tool_items, model } = agent;
  const turnAgent = { agent_id, version, expose_tool_items, previous_turn_id: null };
  const request = { call, model, prompt, agent: turnAgent, thread_id: input.thread_id ?? null };
  const { thread_id, turn_id, end } = await completeTurn(deps, step, request, signal);
  return {
    response_id: `resp_${turn_id}`,
    thread_id,
    output_text: answerText(end.said),
    usage: presentUsage(end.usage),
  };
}
