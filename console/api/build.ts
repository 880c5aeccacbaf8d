import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, queryAll, queryOne, SERVICE_URL } from "./call.ts";
import type { Envelope } from "./envelope.ts";
import { byId } from "./readAll.ts";
import type { ToolApproval } from "./toolApproval.ts";
import type { FormSchema } from "./types.ts";

/* Items that builders make: agents, scripts (definitions) and registered workflows. */

export interface AgentSettings {
  name: string;
  model: string | null;
  instructions: string;
  tools: string[];
  /** Slugs; null: all. */
  collections: string[] | null;
  reasoning: { effort: string } | null;
  api_enabled: boolean;
  project_id: string | null;
  expose_tool_items: boolean;
  client_tools: boolean;
  /** Tools whose calls wait for a person's approval. */
  tool_approvals: Record<string, ToolApproval>;
}

export interface Agent extends AgentSettings {
  id: string;
  version: number;
  created_at: string;
  updated_at: string;
}

export const listAllAgents = queryOptions({
  queryKey: ["agent", "all"],
  queryFn: queryAll<Agent>("agents", byId),
});
export const getAgent = (id: string) =>
  queryOptions({ queryKey: ["agent", "one", id], queryFn: queryOne<Agent>(itemPath("agents", id)) });
export const createAgent = (body: Partial<AgentSettings>) => call<Agent>("agents", { method: "POST", body });
export const changeAgent = (id: string, body: Partial<AgentSettings>) =>
  call<Agent>(itemPath("agents", id), { method: "PATCH", body });
export const deleteAgent = (id: string) => call<void>(itemPath("agents", id), { method: "DELETE" });

interface AgentAnswer {
  id: string;
  output: { type: string; content?: { text?: string }[] }[];
}
/** Asks an agent once, outside any conversation. Its turn has the id of the response. */
export async function tryAgent(id: string, input: string): Promise<{ turn_id: string; text: string }> {
  const answer = await call<AgentAnswer>(`${itemPath("agents", id)}/v1/responses`, { method: "POST", body: { input } });
  const texts = answer.output.filter(({ type }) => type === "message").flatMap(({ content = [] }) => content);
  return { turn_id: answer.id.replace(/^resp_/, ""), text: texts.map(({ text }) => text ?? "").join("\n") };
}

interface Completion {
  id: string;
}
/**
 * Calls a tool once, like a model: the offline model that follows a script requests the call. The request's trace shows the call,
 * its output and its duration.
 */
export async function tryTool(name: string, args: unknown): Promise<string> {
  const body = {
    model: "offline/scripted",
    tools: [{ type: "function", function: { name } }],
    messages: [{ role: "user", content: `/tool ${name} ${JSON.stringify(args)}` }],
  };
  const { id } = await call<Completion>("openai/v1/chat/completions", { method: "POST", body });
  return id.replace(/^chatcmpl-/, "");
}

export type ScriptType = "tool" | "workflow";

interface LintWarning {
  code: string;
  message: string;
  line: number;
  column: number;
}

export interface Definition {
  id: string;
  type: ScriptType;
  name: string;
  version: number;
  description: string;
  parameters: FormSchema;
  secrets: string[];
  grants: string[];
  workflow?: { lint: LintWarning[] };
  created_at: string;
  updated_at: string;
}
export type DefinitionWithSource = Definition & { source: string };

export const listDefinitions = (type: ScriptType) =>
  queryOptions({
    queryKey: ["definition", "list", type],
    queryFn: queryAll<Definition>("definitions", byId, { type }),
  });
interface Tool {
  name: string;
  description: string;
  built_in: boolean;
}
/** Tool names that requests and agents may use: built-in tools and the organization's own. */
export const listTools = queryOptions({
  queryKey: ["definition", "tools"],
  queryFn: queryAll<Tool>("tools", ({ name, built_in }) => `${built_in} ${name}`),
});
interface ScriptedTools {
  /** The organization's switch for its own tools. */
  enabled: boolean;
  /** A deployment can turn them off for all organizations. */
  available: boolean;
}
/** Whether the organization's own tools run. */
export const getScriptedTools = queryOptions({
  queryKey: ["organization", "scripted tools"],
  queryFn: queryOne<ScriptedTools>("tools/scripted"),
});
export const switchScriptedTools = (enabled: boolean) =>
  call<ScriptedTools>("tools/scripted", { method: "PUT", body: { enabled } });
export const getDefinition = (id: string) =>
  queryOptions({
    queryKey: ["definition", "one", id],
    queryFn: queryOne<DefinitionWithSource>(itemPath("definitions", id)),
  });
export const createDefinition = (body: { type: ScriptType; name?: string; source: string }) =>
  call<DefinitionWithSource>("definitions", { method: "POST", body });
export const saveDefinition = (id: string, body: { source?: string; grants?: string[] }) =>
  call<DefinitionWithSource & { notice: string | null }>(itemPath("definitions", id), { method: "PATCH", body });
export const deleteDefinition = (id: string) => call<void>(itemPath("definitions", id), { method: "DELETE" });

interface SourceCheck {
  fault: { message: string; line: number | null; column: number | null } | null;
  workflow?: { lint: LintWarning[] };
}
/** The errors that would make a save fail, and its warnings. */
export async function checkSource(type: ScriptType, source: string) {
  if (source.trim() === "") return [];
  const { fault, workflow } = await call<SourceCheck>("definitions/check", { method: "POST", body: { type, source } });
  if (fault) return [{ ...fault, severity: "error" as const }];
  return (workflow?.lint ?? []).map((warning) => ({ ...warning, severity: "warning" as const }));
}

interface CheckedTypes {
  errors: { code: number; message: string; line: number; column: number; end_line: number; end_column: number }[];
  unchecked: string | null;
}
/** Type errors, which do not make a save fail; and the reason if the types were not checked. */
export async function checkTypes(type: ScriptType, source: string) {
  const { errors, unchecked } = await call<CheckedTypes>("definitions/check-types", {
    method: "POST",
    body: { type, source },
  });
  const problems = errors.map(({ message, line, column, end_line, end_column }) => ({
    message: `Type: ${message}`,
    line,
    column,
    end: { line: end_line, column: end_column },
    severity: "warning" as const,
  }));
  return { problems, unchecked };
}

/** The published types of the functions that a workflow may call. */
export const readDeclarations = async (): Promise<string> =>
  (await fetch(new URL("workflow.d.ts", SERVICE_URL))).text();

export interface Workflow {
  id: string;
  name: string;
  description: string;
  project_id: string | null;
  definition: { id: string; name: string | null; version: number; latest_version: number | null };
  envelope: Envelope;
  enabled: boolean;
  triggers: number;
  runs: { live: number; total: number };
  updated_at: string;
}

/** The counts of runs change with every run, which no change of a workflow or of a trigger reports. */
export const COUNTED = { refetchInterval: 10_000, refetchOnMount: "always" } as const;

export const listAllWorkflows = queryOptions({
  ...COUNTED,
  queryKey: ["workflow", "all"],
  queryFn: queryAll<Workflow>("workflows", byId),
});
export const getWorkflow = (id: string) =>
  queryOptions({
    ...COUNTED,
    queryKey: ["workflow", "one", id],
    queryFn: queryOne<Workflow>(itemPath("workflows", id)),
  });
interface Registrable {
  id: string;
  /** JSON Schema of the arguments of a run. */
  args: FormSchema;
}
/** Definitions that can be registered; everybody may see them. */
export const listRegistrable = queryOptions({
  queryKey: ["definition", "registrable"],
  // only builders hear of changed definitions, and others start runs, too
  refetchOnMount: "always",
  queryFn: queryAll<Registrable>("workflow-definitions", byId),
});
export const registerWorkflow = (definition_id: string) =>
  call<Workflow>("workflows", { method: "POST", body: { definition_id } });
export const changeWorkflow = (id: string, body: object) =>
  call<Workflow>(itemPath("workflows", id), { method: "PATCH", body });
export const startRun = (id: string, args: unknown) =>
  call<{ id: string }>(`${itemPath("workflows", id)}/runs`, { method: "POST", body: { args } });
