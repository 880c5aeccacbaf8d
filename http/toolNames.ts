import { WEB_SEARCH } from "#events/provider.ts";
import { allCollections } from "#projections/collections/query.ts";
import { findTools } from "#projections/definitions/query.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

/** Tools that search what the organization keeps. */
export const KNOWLEDGE_TOOLS: readonly string[] = ["search_documents", "read_document"];
export const BUILT_IN: ReadonlySet<string> = new Set([...KNOWLEDGE_TOOLS, WEB_SEARCH, "web_fetch"]);

type Needs = Pick<Http, "db" | "settings">;

/** Whether each name is a tool, built in or the organization's own. Throws `unknown_tool`, `tools_unavailable`; `paramOf` says where a name stands. */
export async function checkNames(
  { db, settings }: Needs,
  organization: string,
  names: string[],
  paramOf: (n: number) => string,
): Promise<void> {
  const others = names.filter((name) => !BUILT_IN.has(name));
  if (others.length === 0) return;
  const own = new Set((await findTools(db, organization, others)).map(({ name }) => name));
  for (const [n, name] of names.entries()) {
    if (BUILT_IN.has(name)) continue;
    const param = paramOf(n);
    if (!own.has(name)) throw new ApiError("unknown_tool", `${param}: there is no tool of this name.`, { param });
    if (!settings.SCRIPTED_TOOLS)
      throw new ApiError("tools_unavailable", `${param}: scripted tools are not available here.`, { param });
  }
}

/** Whether each tool has what it needs. Throws 400 `tool_not_configured`. `limited`: collections are named, so there are some. */
export async function checkConfigured(
  http: Pick<Http, "db" | "settings" | "providers">,
  organization: string,
  names: string[],
  { limited, paramOf }: { limited: boolean; paramOf: (n: number) => string },
): Promise<void> {
  const refuse = (n: number, message: string) => {
    throw new ApiError("tool_not_configured", `${paramOf(n)}: ${message}`, { param: paramOf(n) });
  };
  const knowledge = names.findIndex((name) => KNOWLEDGE_TOOLS.includes(name));
  if (knowledge !== -1 && !limited && (await allCollections(http.db, organization)).length === 0)
    refuse(knowledge, `${names[knowledge]} needs a collection, and there is none.`);
  const web = names.indexOf(WEB_SEARCH);
  if (web !== -1 && !http.settings.WEB_SEARCH_URL) {
    const providers = await http.providers.recent(organization);
    if (!providers.some(({ name }) => name === WEB_SEARCH))
      refuse(web, `${WEB_SEARCH} needs a search endpoint, and none is configured.`);
  }
}
