import { StepFailure } from "../tick.ts";
import type { Tools } from "../../turns/tools/index.ts";
import { KnowledgeError } from "../../turns/tools/knowledge.ts";
import { ToolError } from "../../turns/tools/tool.ts";
import { WebError } from "../../turns/tools/web.ts";
import { reachOf, type Collections } from "./collections.ts";
import { wrong, type InputOf } from "./input.ts";
import { checkTools } from "./prompt.ts";
import type { Asking } from "./step.ts";

export interface ToolDeps {
  tools: Tools;
  collections: Collections;
}

interface Use {
  /** How the step calls it. */
  what: string;
  name: string;
  args: Record<string, unknown>;
  /** Ids of the collections that it may reach; null: every one. */
  collections: string[] | null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a tool answers: a value where it is JSON, else its text. */
async function use({ tools }: ToolDeps, { step, signal }: Asking, { what, name, args, collections }: Use) {
  const { organization_id, run_id, step_id } = step;
  const [tool] = await tools.find(organization_id, [name]);
  if (!tool) throw wrong(`${what}: there is no such tool.`);
  const calling = { organization_id, turn_id: step_id, thread_id: run_id, user: null, vars: {}, collections, signal };
  try {
    return parsed((await tool.run(args, calling)).text);
  } catch (error) {
    if (!(error instanceof ToolError || error instanceof KnowledgeError || error instanceof WebError)) throw error;
    throw new StepFailure("step_error", `${what}: ${error.message}`);
  }
}

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

/** A built-in tool, or one of the organization's own. */
export async function callTool(deps: ToolDeps, asking: Asking, { name, args }: InputOf<"tool">): Promise<unknown> {
  const { envelope } = asking.standing;
  checkTools(envelope.tools, [name]);
  const { organization_id } = asking.step;
  const reach = { organization_id, allowed: envelope.collections, named: null, field: "tool" };
  const collections = await reachOf(deps.collections, reach);
  return use(deps, asking, { what: `tool ${name}`, name, args: args ?? {}, collections });
}

/** As the tool search_documents: `{results: [...]}`. */
export async function search(deps: ToolDeps, asking: Asking, sent: InputOf<"search">): Promise<unknown> {
  const { query, tags, limit } = sent;
  const collections = await reachOf(deps.collections, {
    organization_id: asking.step.organization_id,
    allowed: asking.standing.envelope.collections,
    named: sent.collections,
    field: "search: collections",
  });
  const args = given({ query, tags, limit });
  return use(deps, asking, { what: "search", name: "search_documents", args, collections });
}

/** As the tool read_document: `{document_id, document, text, next_seq}`. */
export async function read(deps: ToolDeps, asking: Asking, sent: InputOf<"read">): Promise<unknown> {
  const { organization_id } = asking.step;
  const reach = { organization_id, allowed: asking.standing.envelope.collections, named: null, field: "read" };
  const collections = await reachOf(deps.collections, reach);
  return use(deps, asking, { what: "read", name: "read_document", args: given(sent), collections });
}
