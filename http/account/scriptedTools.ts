import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { SwitchScriptedTools } from "#events/organization.ts";
import { hasScriptedTools } from "#projections/organizations/query.ts";
import { requireAdmin, requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";

const Enabled = z.boolean().describe("The switch of the organization.");
const ScriptedTools = z
  .object({
    enabled: Enabled,
    available: z.boolean().describe("Whether they run: a deployment can turn them off for all organizations."),
  })
  .meta({ title: "ScriptedTools" });

async function read({ db, settings }: Http, organization: string): Promise<z.infer<typeof ScriptedTools>> {
  const enabled = await hasScriptedTools(db, organization);
  return { enabled, available: enabled && settings.SCRIPTED_TOOLS };
}

/** The organization's switch for scripted tools, which owners and admins can change. */
export function scriptedToolsRoutes(app: App, http: Http): void {
  const tags = ["Scripts"];
  const reading = {
    tags,
    security: [{ key: [] }],
    summary: "Get whether tools of the organization's own run",
    response: { 200: ScriptedTools },
  };
  app.get("/tools/scripted", { onRequest: requireCredential(http), schema: reading }, async ({ caller }) => {
    await http.waitUntilCurrent(["organizations"], streamName("organization", caller.organization_id));
    return read(http, caller.organization_id);
  });

  const switching = {
    tags,
    security: [{ session: [] }],
    summary: "Turn tools of the organization's own on or off",
    description:
      "While they are off, a request that names one and an agent that is saved with one get 400 `tools_unavailable`, agents that have one answer without it, and a workflow step that names one fails.",
    body: z.object({ enabled: Enabled }),
    response: { 200: ScriptedTools },
  };
  app.put("/tools/scripted", { onRequest: requireAdmin(http), schema: switching }, async (request) => {
    const { organization_id } = request.caller;
    const fields = commandFields(request, streamName("organization", organization_id), ["organizations"]);
    const { enabled } = request.body;
    await http.send(SwitchScriptedTools, { ...fields, data: { enabled }, requireProjected: true });
    return read(http, organization_id);
  });
}
