import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { ToolApprovals } from "./toolApproval.ts";

const Id = z.object({ agent_id: z.uuid() });
/** How an agent runs. The texts that its owner writes are personal fields. */
const Settings = z.object({
  /** `provider/model`; null: it cannot answer yet. */
  model: z.string().nullable(),
  /** Names of built-in tools and of tools defined by scripts. */
  tools: z.array(z.string()),
  /** Ids of the collections that its knowledge tools may search; null: all collections of the organization. */
  collections: z.array(z.uuid()).nullable(),
  reasoning_effort: z.string().nullable(),
  api_enabled: z.boolean(),
  project_id: z.uuid().nullable(),
  /** Whether responses show its tool calls. */
  expose_tool_items: z.boolean(),
  /** Whether requests may pass tools of the caller's own. Absent: no, or recorded before there were any. */
  client_tools: z.boolean().optional(),
});
const Personal = z.object({
  name: z.string(),
  instructions: z.string(),
  /** Tools whose calls wait for a person. It may name people. Absent: none, or recorded before there were any. */
  tool_approvals: ToolApprovals.optional(),
});
/** Counts 1, 2, 3 …: a response records the version of the agent it ran on. */
const Version = z.object({ version: z.int().positive() });

export const CreateAgent = defineCommand("CreateAgent", "agent", Id.extend(Settings.shape).extend(Personal.shape));
/** Settings of a new agent whose creator leaves them out. */
export const AGENT_DEFAULTS = {
  model: null,
  instructions: "",
  tools: [],
  collections: null,
  reasoning_effort: null,
  api_enabled: true,
  project_id: null,
  expose_tool_items: true,
  client_tools: false,
  tool_approvals: {},
};
/** Omitted fields keep their value. */
export const ChangeAgent = defineCommand(
  "ChangeAgent",
  "agent",
  Id.extend(Settings.partial().shape).extend(Personal.partial().shape),
);
export const DeleteAgent = defineCommand("DeleteAgent", "agent", Id);
/** Records that none of the agent's turns waits for a person any more. */
export const EndAgentTurns = defineCommand("EndAgentTurns", "agent", Id);

const thing = (data: { agent_id: string }) => streamName("agent", data.agent_id);
export const AgentCreated = defineEvent("AgentCreated", {
  public: Id.extend(Version.shape).extend(Settings.shape),
  personal: Personal,
  thing,
  opens: true,
});
export const AgentChanged = defineEvent("AgentChanged", {
  public: Id.extend(Version.shape).extend(Settings.partial().shape),
  personal: Personal.partial(),
  thing,
});
export const AgentDeleted = defineEvent("AgentDeleted", { public: Id });
/** The turns of a deleted agent that waited for people have ended. */
export const AgentTurnsEnded = defineEvent("AgentTurnsEnded", { public: Id });

export type AgentCommand = CommandsIn<typeof import("./agent.ts")>;
export type AgentEvent = EventsIn<typeof import("./agent.ts")>;
