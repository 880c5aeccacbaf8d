import { z } from "zod";
import { BUILT_IN_TOOLS, type BuiltInTool } from "#events/tools.ts";
import { listDefinitions, type DefinitionRow } from "#projections/definitions/query.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";

const UsableTool = z
  .object({
    name: z.string().describe("As `tools` of a request or an agent names it."),
    description: z.string(),
    built_in: z.boolean(),
    definition_id: z.string().nullable().describe("Of the organization's own tools."),
    version: z.int().nullable().describe("The newest version, which is the one that runs."),
    parameters: z.record(z.string(), z.unknown()).nullable().describe("JSON Schema of its arguments; of own tools."),
  })
  .meta({ title: "UsableTool" });
type UsableTool = z.infer<typeof UsableTool>;

/** Descriptions for people. Those for models are defined with each tool. */
const DESCRIPTIONS: Record<BuiltInTool, string> = {
  search_documents: "searches the collections",
  read_document: "reads a document of the collections",
  web_search: "searches the web",
  web_fetch: "reads a page of the web",
};

const BUILT_IN: readonly UsableTool[] = BUILT_IN_TOOLS.map((name) => ({
  name,
  description: DESCRIPTIONS[name],
  built_in: true,
  definition_id: null,
  version: null,
  parameters: null,
}));

const present = ({ id, name, version, meta }: DefinitionRow): UsableTool => ({
  name,
  description: meta.description,
  built_in: false,
  definition_id: id,
  version,
  parameters: meta.parameters,
});

/** Lists the tools that requests, agents and steps may name. Builders read the code of scripted tools through the definitions. */
export function toolRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Scripts"], security: [{ key: [] }] };
  const schema = {
    ...describeList(baseSchema, "List the tools that may be used", UsableTool),
    description: "The built-in ones first, then the organization's own in the order in which they were created.",
  };
  app.get("/tools", { onRequest: requireCredential(http), schema }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["definitions"]);
    return pageResponse(
      query,
      async ({ limit, offset }) => {
        const builtIn = BUILT_IN.slice(offset, offset + limit);
        const own = await listDefinitions(http.db, caller.organization_id, {
          type: "tool",
          limit: limit - builtIn.length,
          offset: Math.max(0, offset - BUILT_IN.length),
        });
        return { rows: [...builtIn, ...own.rows.map(present)], total: BUILT_IN.length + own.total };
      },
      (tool) => tool,
    );
  });
}
