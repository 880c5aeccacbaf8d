import type { Prompt } from "#events/thread.ts";
import { allCollections, resolveCollections } from "#projections/collections/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import type { Ask } from "./ask.ts";
import type { CompletionRequest } from "./schema.ts";

/** Tools that search what the organization keeps. */
const KNOWLEDGE = ["search_documents", "read_document"];
/** Tools that need what no deployment has yet. */
const UNCONFIGURED = ["web_search", "web_fetch"];
/** So many slugs are told to a caller who named a collection that does not exist. */
const TOLD = 50;

const paramOf = (n: number) => `tools[${n}].function.name`;
const notConfigured = (n: number, message: string) =>
  new ApiError("tool_not_configured", `${paramOf(n)}: ${message}`, { param: paramOf(n) });

function nameOf(tool: unknown, n: number): string {
  const name = (tool as { function?: { name?: unknown } } | null)?.function?.name;
  const param = paramOf(n);
  if (typeof name !== "string") throw new ApiError("unknown_tool", `${param} must be the name of a tool.`, { param });
  return name;
}

function checkName(name: string, n: number): void {
  const param = paramOf(n);
  if (UNCONFIGURED.includes(name)) throw notConfigured(n, `${name} needs what is not configured here.`);
  if (!KNOWLEDGE.includes(name))
    throw new ApiError("unknown_tool", `${param}: there is no tool of this name.`, { param });
}

type Choice = Prompt["tool_choice"];

/** A named choice must be among the tools of the request. Throws 400 `invalid_tool_choice`. */
function choiceOf({ tool_choice }: Pick<CompletionRequest, "tool_choice">, names: string[]): Choice {
  if (typeof tool_choice !== "object" || tool_choice === null) return tool_choice ?? "auto";
  const { name } = tool_choice.function;
  if (names.includes(name)) return { name };
  throw new ApiError("invalid_tool_choice", "tool_choice.function.name must be one of the request's tools.", {
    param: "tool_choice",
  });
}

/** The tools that a request offers, each once, as far as that needs no look elsewhere (spec: Errors, Chat API). */
export function readTools(request: CompletionRequest): Pick<Prompt, "tools" | "tool_choice"> {
  if (request.response_format && request.tool_choice === "required")
    throw new ApiError("invalid_response_format", "response_format cannot be combined with tool_choice required.", {
      param: "response_format",
    });
  const names = (request.tools ?? []).map(nameOf);
  const tool_choice = choiceOf(request, names);
  for (const [n, name] of names.entries()) checkName(name, n);
  return { tools: [...new Set(names)], tool_choice };
}

type Needs = Pick<Http, "db">;
type Asker = Pick<Caller, "organization_id">;

/** Looks up what tools and `knowledge` name. Throws 400 `unknown_collection`, `tool_not_configured`. */
export async function lookUpTools(http: Needs, { organization_id }: Asker, ask: Ask): Promise<Ask> {
  const { tools } = ask.settings;
  const collections = ask.collections && (await collectionsOf(http, organization_id, ask.collections));
  const first = tools.findIndex((name) => KNOWLEDGE.includes(name));
  if (first !== -1 && !collections && (await allCollections(http.db, organization_id)).length === 0)
    throw notConfigured(first, `${tools[first]} needs a collection, and there is none.`);
  return { ...ask, settings: { ...ask.settings, knowledge: collections && { collections } } };
}

/** Ids of collections by slug or display name, whatever their case. */
async function collectionsOf({ db }: Needs, organization: string, names: string[]): Promise<string[]> {
  const { found, unknown } = await resolveCollections(db, organization, names);
  if (unknown.length === 0) return found.map(({ id }) => id);
  const slugs = (await allCollections(db, organization)).map(({ slug }) => slug);
  const there = slugs.length === 0 ? "there are none" : `there are ${slugs.slice(0, TOLD).join(", ")}`;
  const more = slugs.length > TOLD ? ` and ${slugs.length - TOLD} more` : "";
  const wrong = JSON.stringify(unknown[0]!.slice(0, 200));
  throw new ApiError(
    "unknown_collection",
    `knowledge.collections must name existing collections; ${wrong} is none, ${there}${more}.`,
    { param: "knowledge.collections" },
  );
}
