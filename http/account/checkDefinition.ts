import { z } from "zod";
import { ScriptMeta } from "#events/definition.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { InvalidScript } from "../base/scriptChecker.ts";
import { source, ScriptType } from "./definitionShape.ts";
import { bodyLimit } from "./definitions.ts";

const Check = z.object({ type: ScriptType, source });
const Checked = z
  .object({
    fault: z
      .object({
        message: z.string(),
        line: z.int().nullable().describe("From 1; null: the fault has no position."),
        column: z.int().nullable(),
      })
      .nullable()
      .describe("Why the source would be refused; null: it can be saved."),
    name: z.string().nullable().describe("The name in its meta."),
    secrets: z.array(z.string()),
    workflow: ScriptMeta.shape.workflow,
  })
  .meta({ title: "CheckedDefinition" });

async function check(
  { scripts }: Http,
  organization_id: string,
  { type, source: text }: z.infer<typeof Check>,
): Promise<z.infer<typeof Checked>> {
  try {
    const { name = null, meta } = await scripts.check(organization_id, type, text);
    return { fault: null, name, secrets: meta.secrets, workflow: meta.workflow };
  } catch (error) {
    if (!(error instanceof InvalidScript)) throw error;
    const { message, line, column } = error;
    return { fault: { message, line, column }, name: null, secrets: [] };
  }
}

/** Checks a definition while somebody types it in an editor, for builders and above. Saves nothing. */
export function checkRoutes(app: App, http: Http): void {
  const schema = {
    tags: ["Scripts"],
    security: [{ session: [] }],
    summary: "Check a source without saving it",
    description: "What a save would refuse, with its line and column, so that an editor shows it while somebody types.",
    body: Check,
    response: { 200: Checked },
  };
  app.post("/definitions/check", { onRequest: requireBuilder(http), schema, bodyLimit }, ({ caller, body }) =>
    check(http, caller.organization_id, body),
  );
}
