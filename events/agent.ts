import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ agent_id: z.uuid() });
/** How an agent runs; what its owner wrote of it is personal. */
const Settings = z.object({
  /** `provider/model`; null: it cannot answer yet. */
  model: z.string().nullable(),
  /** Names of built-in and scripted tools. */
  tools: z.array(z.string()),
  /** Ids of the collections that its knowledge tools may search; null: every one of the organization. */
  collections: z.array(z.uuid()).nullable(),
  reasoning_effort: z.string().nullable(),
  api_enabled: z.boolean(),
  project_id: z.uuid().nullable(),
  /** Whether responses show its tool calls. */
  expose_tool_items: z.boolean(),
});
const Words = z.object({ name: z.string(), instructions: z.string() });
/** Counts 1, 2, 3 …: a response records the version that it ran on. */
const Version = z.object({ version: z.int().positive() });

export const CreateAgent = defineCommand("CreateAgent", "agent", Id.extend(Settings.shape).extend(Words.shape));
/** What a new agent has where nothing else is said. */
export const AGENT_DEFAULTS = {
  model: null,
  instructions: "",
  tools: [],
  collections: null,
  reasoning_effort: null,
  api_enabled: true,
  project_id: null,
  expose_tool_items: true,
};
/** What is left out stays. */
export const ChangeAgent = defineCommand(
  "ChangeAgent",
  "agent",
  Id.extend(Settings.partial().shape).extend(Words.partial().shape),
);
export const DeleteAgent = defineCommand("DeleteAgent", "agent", Id);

const thing = (data: { agent_id: string }) => streamOf("agent", data.agent_id);
export const AgentCreated = defineEvent("AgentCreated", {
  public: Id.extend(Version.shape).extend(Settings.shape),
  personal: Words,
  thing,
  opens: true,
});
export const AgentChanged = defineEvent("AgentChanged", {
  public: Id.extend(Version.shape).extend(Settings.partial().shape),
  personal: Words.partial(),
  thing,
});
export const AgentDeleted = defineEvent("AgentDeleted", { public: Id });

export type AgentCommand =
  | CommandFrom<typeof CreateAgent>
  | CommandFrom<typeof ChangeAgent>
  | CommandFrom<typeof DeleteAgent>;
export type AgentEvent =
  | EventFrom<typeof AgentCreated>
  | EventFrom<typeof AgentChanged>
  | EventFrom<typeof AgentDeleted>;
