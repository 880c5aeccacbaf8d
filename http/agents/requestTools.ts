import type { Prompt } from "#events/thread.ts";
import { isBuiltInTool } from "#events/tools.ts";
import type { AgentRow } from "#projections/agents/query.ts";
import { listRounds, newestTurn } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { checkClientTools, invalidTools, readClientTool } from "../turns/clientTools.ts";
import { openPatternBudget } from "../turns/schemaLimits.ts";
import type { ResponseRequest } from "./schema.ts";
import type { OwnTools } from "./toolItems.ts";

/** Names of calls that the server runs, or ran before the agent's tools changed; a request may define a built-in name itself. */
function isServerTool({ tools }: Pick<AgentRow, "tools">, { tools: sent }: Pick<ResponseRequest, "tools">) {
  const defined = new Set((Array.isArray(sent) ? sent : []).map((tool: { name?: unknown } | null) => tool?.name));
  return (name: string): boolean => tools.includes(name) || (isBuiltInTool(name) && !defined.has(name));
}

function readChoice(choice: unknown, names: string[]): Prompt["tool_choice"] {
  if (choice === undefined || choice === null) return "auto";
  if (choice === "none" || choice === "auto" || choice === "required") return choice;
  const { type, name } = choice as { type?: unknown; name?: unknown };
  if (type === "function" && typeof name === "string" && names.includes(name)) return { name };
  throw new ApiError(
    "invalid_tool_choice",
    'tool_choice must be "none", "auto", "required" or {"type": "function", "name": …} with the name of a tool of the request or the agent.',
    { param: "tool_choice" },
  );
}

/** Refuses other types of tools and names the type: some clients add such tools themselves, and their user must find the setting. */
function requireFunction(type: unknown, param: string): void {
  if (type === "function") return;
  const other =
    typeof type === "string"
      ? ` Tools of the type ${JSON.stringify(type.slice(0, 50))} are not supported: switch them off in the client.`
      : "";
  throw invalidTools(param, `must be "function".${other}`);
}

/** Reads the caller's own tools and its `tool_choice`. Throws 400 `invalid_tools`, `invalid_tool_choice`. */
export function readTools(
  agent: Pick<AgentRow, "tools" | "client_tools">,
  { tools, tool_choice }: ResponseRequest,
): Pick<Prompt, "tool_choice" | "client_tools"> {
  if (!agent.client_tools) return { tool_choice: "auto" };
  if (tools != null && !Array.isArray(tools)) throw invalidTools("tools", "must be an array.");
  const patterns = openPatternBudget();
  const sent = (tools ?? []).map((tool: { type?: unknown } | null, n) => {
    requireFunction(tool?.type, `tools[${n}].type`);
    return readClientTool(tool, `tools[${n}]`, patterns);
  });
  const client_tools = checkClientTools(
    sent,
    agent.tools,
    (name) =>
      `${name} is a tool of this agent, which the server runs: leave it out of the request, or take it from the agent.`,
  );
  const choice = readChoice(tool_choice, [...agent.tools, ...client_tools.map(({ name }) => name)]);
  return { tool_choice: choice, ...(client_tools.length > 0 && { client_tools }) };
}

/** How to read calls and results in the input; undefined if the agent's callers may not have tools of their own. */
export async function findOwnTools(
  { db }: Pick<Http, "db">,
  organization: string,
  agent: AgentRow,
  body: Pick<ResponseRequest, "tools">,
  { thread_id, scope }: { thread_id: string | undefined; scope: string },
): Promise<OwnTools | undefined> {
  if (!agent.client_tools) return undefined;
  const newest = thread_id && (await newestTurn(db, organization, thread_id, scope));
  const calls = newest ? (await listRounds(db, newest)).flatMap((round) => round.calls) : [];
  const serverCalls = new Set(calls.map(({ id }) => id));
  for (const { id, client } of calls) if (client) serverCalls.delete(id);
  return { isServerTool: isServerTool(agent, body), serverCalls };
}
