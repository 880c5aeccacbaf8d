import type { Prompt } from "#events/thread.ts";
import { isBuiltInTool } from "#events/tools.ts";
import { listAllCollections } from "#projections/collections/query.ts";
import { findTools } from "#projections/definitions/query.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { resolveCurrentCollections } from "../base/resolveCurrentCollections.ts";
import { checkToolsConfigured, checkToolNames } from "../base/toolNames.ts";
import { checkClientTools, readClientTool } from "../turns/clientTools.ts";
import { openPatternBudget } from "../turns/schemaLimits.ts";
import type { TurnRequest } from "../turns/turnRequest.ts";
import type { CompletionRequest } from "./schema.ts";

/** Maximum number of slugs listed in the error for an unknown collection. */
const MAX_LISTED_SLUGS = 50;

const paramOf = (n: number) => `tools[${n}].function.name`;
/** Tools that providers run themselves, such as a web search, have a type of their own and no function. */
function hintForType(tool: unknown): string {
  const type = (tool as { type?: unknown } | null)?.type;
  if (typeof type !== "string" || type === "function") return "";
  return ` Tools of the type ${JSON.stringify(type.slice(0, 50))} are not supported: name a tool of the server as {"type": "function", "function": {"name": "web_search"}}.`;
}

function readToolName(tool: unknown, n: number): string {
  const name = (tool as { function?: { name?: unknown } } | null)?.function?.name;
  const param = paramOf(n);
  if (typeof name === "string") return name;
  throw new ApiError("unknown_tool", `${param} must be the name of a tool.${hintForType(tool)}`, { param });
}

/** Reads `tool_choice`. A named tool must be among the tools of the request. Throws 400 `invalid_tool_choice`. */
function readToolChoice(
  { tool_choice }: Pick<CompletionRequest, "tool_choice">,
  names: string[],
): Prompt["tool_choice"] {
  if (typeof tool_choice !== "object" || tool_choice === null) return tool_choice ?? "auto";
  const { name } = tool_choice.function;
  if (names.includes(name)) return { name };
  throw new ApiError("invalid_tool_choice", "tool_choice.function.name must be one of the request's tools.", {
    param: "tool_choice",
  });
}

/** Reads the tool names of a request, without duplicates, and its `tool_choice`. Needs no look-up (spec: Errors, Chat API). */
export function readTools(request: CompletionRequest): Pick<Prompt, "tools" | "tool_choice"> {
  if (request.response_format && request.tool_choice === "required")
    throw new ApiError("invalid_response_format", "response_format cannot be combined with tool_choice required.", {
      param: "response_format",
    });
  const names = (request.tools ?? []).map(readToolName);
  const tool_choice = readToolChoice(request, names);
  return { tools: [...new Set(names)], tool_choice };
}

const definitionOf = (tool: unknown): Record<string, unknown> =>
  (tool as { function: Record<string, unknown> }).function;

/** False for a schema without properties: clients that may only name a tool of the server must still send a schema. */
function hasParameters(tool: unknown): boolean {
  const properties = (definitionOf(tool)["parameters"] as { properties?: unknown } | null | undefined)?.properties;
  return typeof properties === "object" && properties !== null && Object.keys(properties).length > 0;
}

/**
 * Separates tools of the server from functions that the caller runs. A function is the caller's if it has parameters, or if no
 * tool of the server has its name (docs/adr/0100-a-callers-definition-is-the-callers-tool.md). Throws 400 `invalid_tools`.
 */
async function splitTools(
  { db }: Pick<Http, "db">,
  organization: string,
  sent: unknown[],
): Promise<Pick<Prompt, "tools" | "client_tools">> {
  const names = sent.map(readToolName);
  const own = new Set((await findTools(db, organization, names)).map(({ name }) => name));
  const isServerTool = (name: string) => isBuiltInTool(name) || own.has(name);
  const isClientTool = (tool: unknown, n: number) => !isServerTool(names[n]!) || hasParameters(tool);
  const tools = [...new Set(names.filter((_, n) => !isClientTool(sent[n], n)))];
  const patterns = openPatternBudget();
  const client_tools = checkClientTools(
    sent.flatMap((tool, n) =>
      isClientTool(tool, n) ? [readClientTool(definitionOf(tool), `tools[${n}].function`, patterns)] : [],
    ),
    tools,
    (name) =>
      `${name} is in tools twice: with parameters it is your own tool, and without them the server's. Send one.`,
  );
  return { tools, ...(client_tools.length > 0 && { client_tools }) };
}

type Needs = Pick<Http, "db" | "settings" | "providers" | "waitUntilCurrent">;

/**
 * Looks up the tools and collections that a request names. Throws 400 `unknown_tool`, `invalid_tools`, `unknown_collection`,
 * `tool_not_configured` or `tools_unavailable`.
 */
export async function lookUpTools(
  http: Needs,
  { organization_id, client_tools: hasOwnTools }: Pick<Caller, "organization_id" | "client_tools">,
  request: TurnRequest,
  { tools: sent }: Pick<CompletionRequest, "tools">,
): Promise<TurnRequest> {
  const { collections: names } = request;
  const settings = hasOwnTools
    ? { ...request.settings, ...(await splitTools(http, organization_id, sent ?? [])) }
    : request.settings;
  const { tools } = settings;
  // the request may name a tool twice
  const placeOf = (n: number) => paramOf((sent ?? []).findIndex((tool) => definitionOf(tool)["name"] === tools[n]));
  await checkToolNames(http, organization_id, tools, placeOf);
  const collections = names && (await findCollections(http, organization_id, names));
  await checkToolsConfigured(http, organization_id, tools, {
    namesCollections: collections !== null && collections.length > 0,
    paramOf: placeOf,
  });
  return { ...request, settings: { ...settings, knowledge: collections && { collections } } };
}

/** Finds the ids of collections by slug or display name, ignoring case. Throws 400 `unknown_collection`. */
async function findCollections(http: Needs, organization: string, names: string[]): Promise<string[]> {
  const { found, unknown } = await resolveCurrentCollections(http, organization, names);
  if (unknown.length === 0) return found.map(({ id }) => id);
  const slugs = (await listAllCollections(http.db, organization)).map(({ slug }) => slug);
  const listed = slugs.length === 0 ? "none" : slugs.slice(0, MAX_LISTED_SLUGS).join(", ");
  const more = slugs.length > MAX_LISTED_SLUGS ? ` and ${slugs.length - MAX_LISTED_SLUGS} more` : "";
  const wrong = JSON.stringify(unknown[0]!.slice(0, 200));
  throw new ApiError(
    "unknown_collection",
    `knowledge.collections: there is no collection ${wrong}. Existing collections: ${listed}${more}.`,
    { param: "knowledge.collections" },
  );
}
