import { z } from "zod";
import { Role } from "#events/user.ts";
import type { DefinitionRow } from "#projections/definitions/query.ts";
import { listWorkflowsOf } from "#projections/workflows/query.ts";
import type { Http } from "../base/deps.ts";

/** Access of a definition: the secrets that its code may read, and the people who may read what the code returns. */
export const Access = z.object({
  secrets: z
    .array(
      z.object({
        name: z.string(),
        workflow_id: z
          .string()
          .nullable()
          .describe("The workflow whose envelope allows it; null for a grant of the tool itself."),
        workflow_name: z.string().nullable(),
      }),
    )
    .describe("Code that may read a secret can also leak it."),
  results: z
    .object({
      roles: z.array(Role).describe("Of a workflow: its runs. Of a tool: the traces of the turns that called it."),
      api_keys: z.boolean().describe("Keys that reach the project of the workflow."),
      webhooks: z.boolean().describe("Callers of a trigger, for the runs that they start."),
      models: z.boolean().describe("The model that called it, whose answer everybody reads who may read the answer."),
    })
    .describe("Who may read the results."),
});

const RUN_READERS = { roles: Role.options, api_keys: true, webhooks: true, models: false };
const TOOL_READERS = { roles: ["owner" as const, "admin" as const], api_keys: false, webhooks: false, models: true };

/** The current access of a definition, because grants and envelopes apply when they are used. */
export async function describeAccess(
  { db, waitUntilCurrent }: Pick<Http, "db" | "waitUntilCurrent">,
  organization: string,
  { id, type, grants }: DefinitionRow,
): Promise<z.infer<typeof Access>> {
  if (type === "tool")
    return {
      secrets: grants.map((name) => ({ name, workflow_id: null, workflow_name: null })),
      results: TOOL_READERS,
    };
  await waitUntilCurrent(["workflows"]);
  const workflows = await listWorkflowsOf(db, organization, id);
  return {
    secrets: workflows.flatMap(({ id: workflow_id, name: workflow_name, envelope }) =>
      envelope.secrets.map((name) => ({ name, workflow_id, workflow_name })),
    ),
    results: RUN_READERS,
  };
}
