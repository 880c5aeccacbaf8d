import { isUuid, streamOf } from "#events/ids.ts";
import { getDefinition, getWorkflowVersion, type WorkflowVersion } from "#projections/definitions/query.ts";
import { getTrigger, type TriggerRow } from "#projections/triggers/query.ts";
import { getWorkflow, type WorkflowRow } from "#projections/workflows/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { isInReach } from "./reach.ts";

type Needs = Pick<Http, "db" | "freshRead">;

/**
 * A workflow that the caller reaches. Changes are answered once they can be read, so only one that is not found is waited for.
 * Throws 404 `workflow_not_found`.
 */
export async function findWorkflow({ db, freshRead }: Needs, caller: Caller, id: string): Promise<WorkflowRow> {
  if (isUuid(id)) {
    const find = () => getWorkflow(db, caller.organization_id, id);
    const row = (await find()) ?? (await freshRead(["workflows"], streamOf("workflow", id.toLowerCase())).then(find));
    if (row && isInReach(caller, row.project_id)) return row;
  }
  throw new ApiError("workflow_not_found", "No workflow has this id.", { param: "id" });
}

/** A trigger of the workflow. Throws 404 `trigger_not_found`. */
export async function findTrigger({ db, freshRead }: Needs, workflow_id: string, id: string): Promise<TriggerRow> {
  if (isUuid(id)) {
    await freshRead(["triggers"], streamOf("trigger", id.toLowerCase()));
    const row = await getTrigger(db, workflow_id, id);
    if (row) return row;
  }
  throw new ApiError("trigger_not_found", "No trigger of this workflow has this id.", { param: "trigger_id" });
}

/**
 * A version of a definition of type workflow, null: the newest.
 * Throws 404 `definition_not_found`, 400 `invalid_definition` for a tool, 400 `unknown_version`.
 */
export async function findVersion(
  { db, freshRead }: Needs,
  { organization_id }: Pick<Caller, "organization_id">,
  definition_id: string,
  version: number | null,
): Promise<WorkflowVersion> {
  const param = "definition_id";
  if (isUuid(definition_id)) await freshRead(["definitions"], streamOf("definition", definition_id.toLowerCase()));
  const definition = await getDefinition(db, organization_id, definition_id);
  if (!definition) throw new ApiError("definition_not_found", `${param}: no definition has this id.`, { param });
  const { id, name, type, version: latest } = definition;
  if (type !== "workflow")
    throw new ApiError("invalid_definition", `${param}: ${name} is a tool, and only workflows can be registered.`, {
      param,
    });
  const found = await getWorkflowVersion(db, organization_id, id, version ?? latest);
  if (found) return found;
  throw new ApiError("unknown_version", `definition_version: ${name} has the versions 1 to ${latest}.`, {
    param: "definition_version",
  });
}
