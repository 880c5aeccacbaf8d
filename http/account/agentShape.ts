import { z } from "zod";
import { limitKeys } from "#events/limitKeys.ts";
import {
  APPROVAL_FOR_EVERY_CALL,
  MAX_TOOL_APPROVAL_SECONDS,
  ToolApproval,
  ToolCondition,
} from "#events/toolApproval.ts";
import { Assignee } from "#events/runParts.ts";
import type { AgentRow } from "#projections/agents/query.ts";

/** Maximum bytes of JSON. Instructions are part of a command, whose limit is 256 KiB. */
const MAX_INSTRUCTIONS_BYTES = 200_000;
const MAX_TOOLS = 100;

const name = z.string().trim().min(1).max(200);
const Reasoning = z.object({ effort: z.string().min(1).max(50) });
const settings = {
  model: z.string().min(1).max(512).nullable(),
  instructions: z
    .string()
    .max(100_000)
    .refine(
      (text) => Buffer.byteLength(JSON.stringify(text)) <= MAX_INSTRUCTIONS_BYTES,
      `must be at most ${MAX_INSTRUCTIONS_BYTES} bytes`,
    ),
  tools: z.array(z.string().min(1).max(200)).max(MAX_TOOLS),
  collections: z
    .array(z.string().min(1).max(200))
    .max(100)
    .nullable()
    .describe("Slugs of the collections it can search; null: all."),
  reasoning: Reasoning.nullable(),
  api_enabled: z.boolean(),
  project_id: z.uuid().nullable(),
  expose_tool_items: z
    .boolean()
    .describe(
      "Whether responses show tool calls. AI SDK, Agents SDK and LangChain, which would run them, never see any.",
    ),
  client_tools: z
    .boolean()
    .describe("Whether requests may pass `tools` of the caller's own, which the caller runs. False by default."),
};

/** The approval rule of one tool, as written in requests. */
const ToolApprovalRule = z.union([
  z.literal("always").transform(() => APPROVAL_FOR_EVERY_CALL),
  z
    .strictObject({
      assignees: z.array(Assignee).max(50),
      self_approval: z.boolean(),
      allow_api_key: z.boolean(),
      expires_in_seconds: z.int().min(1).max(MAX_TOOL_APPROVAL_SECONDS).nullable(),
      when: ToolCondition.nullable(),
    })
    .partial()
    .transform((rule) => ({ ...APPROVAL_FOR_EVERY_CALL, ...rule })),
]);
const writtenApprovals = limitKeys(MAX_TOOLS, z.record(z.string().min(1).max(200), ToolApprovalRule));
const shownApprovals = z
  .record(z.string(), ToolApproval)
  .describe("Tools whose calls wait until a person has allowed them, by name.");

/** Only the name is required. The API of a new agent is enabled. */
export const CreateAgentBody = z.object({
  name,
  ...z.object({ ...settings, tool_approvals: writtenApprovals }).partial().shape,
});
export const ChangeAgentBody = z.strictObject({ name, ...settings, tool_approvals: writtenApprovals }).partial();

export const Agent = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.int().describe("Increases with each change. A response records the version it ran on."),
    ...settings,
    tool_approvals: shownApprovals,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Agent" });

export const AgentVersion = z
  .object({
    version: z.int(),
    changed_by: z.string().describe("`person:<id>`."),
    created_at: z.iso.datetime(),
    settings: z.object({ name, ...settings, tool_approvals: shownApprovals }).describe("As they were from then on."),
  })
  .meta({ title: "AgentVersion" });

type StoredSettings = Pick<
  AgentRow,
  | "name"
  | "model"
  | "instructions"
  | "tools"
  | "collections"
  | "reasoning_effort"
  | "api_enabled"
  | "project_id"
  | "expose_tool_items"
  | "client_tools"
  | "tool_approvals"
>;

/** @param slugs of the organization's collections by id. Deleted collections are left out. */
export const presentSettings = (
  stored: StoredSettings,
  slugs: Map<string, string>,
): z.infer<typeof AgentVersion>["settings"] => ({
  name: stored.name,
  model: stored.model,
  instructions: stored.instructions,
  tools: stored.tools,
  collections: stored.collections && stored.collections.flatMap((id) => slugs.get(id) ?? []),
  reasoning: stored.reasoning_effort === null ? null : { effort: stored.reasoning_effort },
  api_enabled: stored.api_enabled,
  project_id: stored.project_id,
  expose_tool_items: stored.expose_tool_items,
  client_tools: stored.client_tools,
  tool_approvals: stored.tool_approvals,
});

export const presentAgent = (row: AgentRow, slugs: Map<string, string>): z.infer<typeof Agent> => ({
  id: row.id,
  version: row.version,
  ...presentSettings(row, slugs),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
