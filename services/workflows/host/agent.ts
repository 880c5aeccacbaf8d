import { responseUsage } from "#events/presentUsage.ts";
import type { ToolApprovals } from "#events/toolApproval.ts";
import { answerText } from "#events/turnOutput.ts";
import type { Envelope } from "#events/workflow.ts";
import type { CallInput } from "../stepInputs.ts";
import { StepFailure } from "../tick.ts";
import { isListed } from "./envelopeRules.ts";
import { resolveCollections, type Collections } from "./collections.ts";
import { invalidInput } from "./input.ts";
import { buildPrompt, checkModel, checkTools } from "./prompt.ts";
import type { HostCall } from "./step.ts";
import { completeTurn, type CompletedTurn } from "./completeTurn.ts";
import type { TurnDeps } from "./turnStart.ts";

export interface AgentSettings {
  id: string;
  version: number;
  instructions: string;
  /** `provider/model`; null: not set yet. */
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
  /** Ids of the agents with this name that a run of the project can use. */
  findIds(run: Pick<AskingRun, "organization_id" | "project_id">, name: string): Promise<string[]>;
}

export interface AgentDeps extends TurnDeps {
  agents: Agents;
  collections: Collections;
}

/** A run, and the rules of its workflow. */
export interface AskingRun {
  organization_id: string;
  project_id: string | null;
  envelope: Envelope;
}

/** The agent, if the envelope allows it. Agents of another organization or project do not exist for the run. */
async function findAgent({ agents }: AgentDeps, run: AskingRun, id: string) {
  const { organization_id, project_id, envelope } = run;
  if (!isListed(envelope.agents, id))
    throw new StepFailure("agent_not_allowed", `The agent ${id} is not in the workflow's envelope.agents.`, {
      final: true,
    });
  const agent = await agents.find(organization_id, id);
  if (!agent || (project_id !== null && agent.project_id !== null && agent.project_id !== project_id))
    throw invalidInput("agent: agent_id: there is no such agent.");
  if (agent.model === null) throw invalidInput("agent: agent_id: the agent has no model.");
  return { ...agent, model: agent.model };
}

/** The collections allowed by both the agent and the envelope; null: all. */
const intersect = (own: string[] | null, allowed: string[] | null): string[] | null =>
  own && allowed ? own.filter((id) => allowed.includes(id)) : (own ?? allowed);

/** The start data of an agent's turn. The envelope restricts the agent further than its own settings. */
export async function prepareAgentTurn(deps: AgentDeps, run: AskingRun, input: CallInput<"agent">) {
  const { organization_id, envelope } = run;
  const agent = await findAgent(deps, run, input.agent_id);
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
  const { id: agent_id, version, expose_tool_items, model, tools, tool_approvals } = agent;
  const { instructions, reasoning_effort } = agent;
  const prompt = {
    ...buildPrompt(input.input),
    vars: input.vars ?? {},
    tools,
    knowledge: collections && { collections },
    // calls to these tools are refused in a step, which cannot wait for people
    agent: { instructions, reasoning_effort, tool_approvals },
  };
  const turnAgent = { agent_id, version, expose_tool_items, previous_turn_id: null };
  return { model, prompt, agent: turnAgent, thread_id: input.thread_id ?? null };
}

/** The result of an agent's turn for the caller. */
export const agentOutput = ({ thread_id, turn_id, end }: CompletedTurn) => ({
  response_id: `resp_${turn_id}`,
  thread_id,
  output_text: answerText(end.said),
  usage: responseUsage(end.usage),
});

/** Asks an agent once: `{response_id, thread_id, output_text, usage}`. */
export async function runAgent(deps: AgentDeps, hostCall: HostCall, input: CallInput<"agent">) {
  const { step, permissions, call, signal } = hostCall;
  const { organization_id, project_id } = step;
  const { envelope } = permissions;
  const prepared = await prepareAgentTurn(deps, { organization_id, project_id, envelope }, input);
  return agentOutput(await completeTurn(deps, step, { ...prepared, call }, signal));
}
