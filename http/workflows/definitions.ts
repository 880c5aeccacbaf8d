import { z } from "zod";
import { listDefinitions, type DefinitionRow } from "#projections/definitions/query.ts";
import { requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { checkRunsRoute } from "./checkRuns.ts";

const Definition = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.int().describe("The newest version."),
    description: z.string(),
    args: z.record(z.string(), z.unknown()).describe("JSON Schema of the arguments of a run."),
    secrets: z.array(z.string()).describe("Secrets that its steps read. The envelope must allow them."),
    steps: z.array(z.string()),
    lint: z
      .array(z.object({ code: z.string(), message: z.string(), line: z.int(), column: z.int() }))
      .describe("Warnings about the code."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "WorkflowDefinition" });

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

/** Definitions that can be registered as workflows (spec: Workflow API), for everybody who is signed in. */
export function workflowDefinitionRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Workflows"], security: [{ session: [] }] };
  const schema = describeList(baseSchema, "List definitions that can be registered", Definition);
  app.get("/workflow-definitions", { onRequest: requireSession(http), schema }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["definitions"]);
    const type = "workflow" as const;
    return pageResponse(query, (page) => listDefinitions(http.db, caller.organization_id, { type, ...page }), present);
  });
  checkRunsRoute(app, http);
}
