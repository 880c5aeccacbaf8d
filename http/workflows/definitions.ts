import { z } from "zod";
import { listDefinitions, type DefinitionRow } from "#projections/definitions/query.ts";
import type { App } from "../app.ts";
import { requireSession } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";

const Definition = z.object({
  id: z.string(),
  name: z.string(),
  version: z.int().describe("The newest."),
  description: z.string(),
  args: z.record(z.string(), z.unknown()).describe("JSON Schema of the arguments that a run is started with."),
  secrets: z.array(z.string()).describe("What its steps ask for; an envelope has to allow them."),
  steps: z.array(z.string()),
  lint: z
    .array(z.object({ code: z.string(), message: z.string(), line: z.int(), column: z.int() }))
    .describe("What a reader of the code would warn of."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const present = (row: DefinitionRow): z.infer<typeof Definition> => ({
  id: row.id,
  name: row.name,
  version: row.version,
  description: row.meta.description,
  args: row.meta.parameters,
  secrets: row.meta.secrets,
  steps: Object.keys(row.meta.workflow?.steps ?? {}),
  lint: row.meta.workflow?.lint ?? [],
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** What can be registered as a workflow (spec: Workflow API), for everybody signed in. */
export function workflowDefinitionRoutes(app: App, http: Http): void {
  const schema = {
    tags: ["Workflows"],
    security: [{ session: [] }],
    summary: "List definitions that can be registered",
    querystring: PageQuery,
    response: { 200: listOf(Definition) },
  };
  app.get("/workflow-definitions", { onRequest: requireSession(http), schema }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["definitions"]);
    const wanted = { type: "workflow" as const, ...page };
    const { rows, total } = await listDefinitions(http.db, caller.organization_id, wanted);
    return { data: rows.map(present), total, ...page };
  });
}
