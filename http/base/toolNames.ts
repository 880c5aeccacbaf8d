import { WEB_SEARCH } from "#events/provider.ts";
import { BUILT_IN_TOOLS, isBuiltInTool, KNOWLEDGE_TOOLS } from "#events/tools.ts";
import { hasCollections } from "#projections/collections/query.ts";
import { findTools } from "#projections/definitions/query.ts";
import { hasScriptedTools } from "#projections/organizations/query.ts";
import type { ProviderRow } from "./catalog.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { findOrWait } from "./findById.ts";

type Needs = Pick<Http, "db" | "settings">;

/** Error for a tool name that does not exist. The hint helps clients that send their own tools. */
const unknownToolError = (name: string, param: string) =>
  new ApiError(
    "unknown_tool",
    `${param}: there is no tool called ${JSON.stringify(name.slice(0, 100))}. Tools run on the server, and a request names them; only one with an API key that has client_tools may bring its own. ` +
      `Built in are ${BUILT_IN_TOOLS.join(", ")}; an organization defines others with POST /api/definitions (type "tool").`,
    { param },
  );

const toolsUnavailableError = (param: string, why: string) =>
  new ApiError("tools_unavailable", `${param}: scripted tools ${why}.`, { param });

/** Throws `unknown_tool` or `tools_unavailable` for a name that no tool has. `paramOf` returns the field of the name with a given index. */
export async function checkToolNames(
  { db, settings }: Needs,
  organization: string,
  names: string[],
  paramOf: (n: number) => string,
): Promise<void> {
  const others = names.filter((name) => !isBuiltInTool(name));
  if (others.length === 0) return;
  const [found, isSwitchedOn] = await Promise.all([
    findTools(db, organization, others),
    hasScriptedTools(db, organization),
  ]);
  const own = new Set(found.map(({ name }) => name));
  for (const [n, name] of names.entries()) {
    if (isBuiltInTool(name)) continue;
    const param = paramOf(n);
    if (!own.has(name)) throw unknownToolError(name, param);
    if (!settings.SCRIPTED_TOOLS) throw toolsUnavailableError(param, "are not available in this deployment");
    if (!isSwitchedOn) throw toolsUnavailableError(param, "are switched off for the organization");
  }
}

/** Whether the organization has a search endpoint. A missing one is looked up again: another process may have just configured it. */
async function hasWebSearch({ recent, readNow }: Http["providers"], organization: string): Promise<boolean> {
  const isIn = (providers: ProviderRow[]) => providers.some(({ name }) => name === WEB_SEARCH);
  return isIn(await recent(organization)) || isIn(await readNow(organization));
}

/** Whether the organization has a collection. The first one may have been created a moment ago, so this waits for the read model once. */
async function hasCollection(
  { db, waitUntilCurrent }: Pick<Http, "db" | "waitUntilCurrent">,
  organization: string,
): Promise<boolean> {
  const find = () => hasCollections(db, organization);
  return (await findOrWait(find, () => waitUntilCurrent(["collections"]))) ?? false;
}

/**
 * Throws 400 `tool_not_configured` for a tool that lacks a collection to search, or a search endpoint. `namesCollections`: the
 * request names collections, so there is at least one.
 */
export async function checkToolsConfigured(
  http: Pick<Http, "db" | "settings" | "providers" | "waitUntilCurrent">,
  organization: string,
  names: string[],
  { namesCollections, paramOf }: { namesCollections: boolean; paramOf: (n: number) => string },
): Promise<void> {
  const refuse = (n: number, message: string) => {
    throw new ApiError("tool_not_configured", `${paramOf(n)}: ${message}`, { param: paramOf(n) });
  };
  const knowledge = names.findIndex((name) => KNOWLEDGE_TOOLS.includes(name));
  if (knowledge !== -1 && !namesCollections && !(await hasCollection(http, organization)))
    refuse(knowledge, `${names[knowledge]} needs at least one collection.`);
  const web = names.indexOf(WEB_SEARCH);
  if (web !== -1 && !http.settings.WEB_SEARCH_URL && !(await hasWebSearch(http.providers, organization)))
    refuse(web, `${WEB_SEARCH} needs a search endpoint; none is configured.`);
}
