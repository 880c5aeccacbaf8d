import type { Prompt } from "#events/thread.ts";
import { allCollections, resolveCollections } from "#projections/collections/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { checkConfigured, checkNames } from "../toolNames.ts";
import type { Ask } from "./ask.ts";
import type { CompletionRequest } from "./schema.ts";

/** So many slugs are told to a caller who named a collection that does not exist. */
const TOLD = 50;

const paramOf = (n: number) => `tools[${n}].function.name`;
function nameOf(tool: unknown, n: number): string {
  const name = (tool as { function?: { name?: unknown } } | null)?.function?.name;
  const param = paramOf(n);
  if (typeof name !== "string") throw new ApiError("unknown_tool", `${param} must be the name of a tool.`, { param });
  return name;
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
  return { tools: [...new Set(names)], tool_choice };
}

type Needs = Pick<Http, "db" | "settings" | "providers">;
type Asker = Pick<Caller, "organization_id">;

/** Looks up what tools and `knowledge` name. Throws 400 `unknown_tool`, `tools_unavailable`, `unknown_collection`, `tool_not_configured`. */
export async function lookUpTools(http: Needs, { organization_id }: Asker, ask: Ask): Promise<Ask> {
  const { tools } = ask.settings;
  await checkNames(http, organization_id, tools, paramOf);
  const collections = ask.collections && (await collectionsOf(http, organization_id, ask.collections));
  await checkConfigured(http, organization_id, tools, { limited: collections !== null, paramOf });
  return { ...ask, settings: { ...ask.settings, knowledge: collections && { collections } } };
}

/** Ids of collections by slug or display name, whatever their case. */
async function collectionsOf({ db }: Pick<Http, "db">, organization: string, names: string[]): Promise<string[]> {
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
