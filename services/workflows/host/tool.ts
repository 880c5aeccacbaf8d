import { parseJsonOrText } from "#events/json.ts";
import type { CallInput } from "../stepInputs.ts";
import { StepFailure } from "../tick.ts";
import type { Tools } from "../../turns/tools/index.ts";
import { KnowledgeError } from "../../turns/tools/knowledge.ts";
import { ToolError } from "../../turns/tools/tool.ts";
import { WebError } from "../../turns/tools/web.ts";
import { resolveCollections, type Collections } from "./collections.ts";
import { invalidInput } from "./input.ts";
import { checkTools } from "./prompt.ts";
import type { HostCall } from "./step.ts";

export interface ToolDeps {
  tools: Tools;
  collections: Collections;
}

interface ToolUse {
  /** The name of the call as the step wrote it, for messages. */
  what: string;
  name: string;
  args: Record<string, unknown>;
  /** Ids of the collections that it may search; null: all. */
  collections: string[] | null;
}

/** Runs a tool. A result in JSON is parsed; any other stays text. */
async function runTool({ tools }: ToolDeps, { step, signal }: HostCall, { what, name, args, collections }: ToolUse) {
  const { organization_id, run_id, step_id, run_as } = step;
  const [tool] = await tools.find(organization_id, [name]);
  if (!tool) throw invalidInput(`${what}: there is no such tool.`);
  const context = {
    organization_id,
    turn_id: step_id,
    thread_id: run_id,
    principal: run_as.type === "person" && run_as.id !== null ? (`person:${run_as.id}` as const) : ("system" as const),
    user: null,
    vars: {},
    collections,
    run_id,
    signal,
  };
  try {
    return parseJsonOrText((await tool.run(args, context)).text);
  } catch (error) {
    if (!(error instanceof ToolError || error instanceof KnowledgeError || error instanceof WebError)) throw error;
    throw new StepFailure("step_error", `${what}: ${error.message}`);
  }
}

const withoutNulls = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

/** Runs a built-in tool or one of the organization's own. */
export async function callTool(
  deps: ToolDeps,
  hostCall: HostCall,
  { name, args }: CallInput<"tool">,
): Promise<unknown> {
  const { envelope } = hostCall.permissions;
  checkTools(envelope.tools, [name]);
  const { organization_id } = hostCall.step;
  const request = { organization_id, allowed: envelope.collections, named: null, field: "tool" };
  const collections = await resolveCollections(deps.collections, request);
  return runTool(deps, hostCall, { what: `tool ${name}`, name, args: args ?? {}, collections });
}

/** Runs the tool search_documents: `{results: [...]}`. */
export async function search(deps: ToolDeps, hostCall: HostCall, input: CallInput<"search">): Promise<unknown> {
  const { query, tags, limit } = input;
  const collections = await resolveCollections(deps.collections, {
    organization_id: hostCall.step.organization_id,
    allowed: hostCall.permissions.envelope.collections,
    named: input.collections,
    field: "search: collections",
  });
  const args = withoutNulls({ query, tags, limit });
  return runTool(deps, hostCall, { what: "search", name: "search_documents", args, collections });
}

/** Runs the tool read_document: `{document_id, document, text, next_seq}`. */
export async function read(deps: ToolDeps, hostCall: HostCall, input: CallInput<"read">): Promise<unknown> {
  const { organization_id } = hostCall.step;
  const request = { organization_id, allowed: hostCall.permissions.envelope.collections, named: null, field: "read" };
  const collections = await resolveCollections(deps.collections, request);
  return runTool(deps, hostCall, { what: "read", name: "read_document", args: withoutNulls(input), collections });
}
