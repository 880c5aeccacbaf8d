import type { ErrorCode } from "#events/errorCodes.ts";
import { isUuid, streamName } from "#events/ids.ts";
import { getDefinition, getWorkflowVersion, type WorkflowVersion } from "#projections/definitions/query.ts";
import { getRun, type RunRow } from "#projections/runs/query.ts";
import { getTrigger, type TriggerRow } from "#projections/triggers/query.ts";
import { getWorkflow, type WorkflowRow } from "#projections/workflows/query.ts";
import { reachesProject, type Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent, findOrWait } from "../base/findById.ts";

type Needs = Pick<Http, "db" | "waitUntilCurrent">;

/**
 * Finds a workflow that the caller can access. Changes are answered only once they are readable, so waiting is needed only for a
 * missing workflow. Throws 404 `workflow_not_found`.
 */
export async function requireWorkflow(
  { db, waitUntilCurrent }: Needs,
  caller: Caller,
  id: string,
): Promise<WorkflowRow> {
  const find = () => getWorkflow(db, caller.organization_id, id);
  const wait = () => waitUntilCurrent(["workflows"], streamName("workflow", id.toLowerCase()));
  const row = isUuid(id) ? await findOrWait(find, wait) : undefined;
  if (row && reachesProject(caller, row.project_id)) return row;
  throw new ApiError("workflow_not_found", "No workflow has this id.", { param: "id" });
}

/** A trigger of the workflow. Throws 404 `trigger_not_found`. */
export async function requireTrigger(http: Needs, workflow_id: string, id: string): Promise<TriggerRow> {
  const row = await findCurrent(http, ["triggers"], ["trigger", id], () => getTrigger(http.db, workflow_id, id));
  if (row) return row;
  throw new ApiError("trigger_not_found", "No trigger of this workflow has this id.", { param: "trigger_id" });
}

/**
 * Finds a version of a workflow definition; null: the newest. Throws 404 `definition_not_found`, 400 `invalid_definition` for a
 * tool, 400 `unknown_version`.
 */
export async function requireVersion(
  http: Needs,
  { organization_id }: Pick<Caller, "organization_id">,
  definition_id: string,
  version: number | null,
): Promise<WorkflowVersion> {
  const refuse = (code: ErrorCode, param: string, why: string) => new ApiError(code, `${param}: ${why}`, { param });
  const find = () => getDefinition(http.db, organization_id, definition_id);
  const definition = await findCurrent(http, ["definitions"], ["definition", definition_id], find);
  if (!definition) throw refuse("definition_not_found", "definition_id", "no definition has this id.");
  const { id, name, type, version: latest } = definition;
  if (type !== "workflow")
    throw refuse("invalid_definition", "definition_id", `${name} is a tool, and only workflows can be registered.`);
  const found = await getWorkflowVersion(http.db, organization_id, id, version ?? latest);
  if (found) return found;
  throw refuse("unknown_version", "definition_version", `${name} has the versions 1 to ${latest}.`);
}

export const runNotFound = () => new ApiError("run_not_found", "No run has this id.", { param: "run_id" });

/** Finds a run of the organization. A missing run may have started a moment ago, so this waits for the read model once. */
export async function findRun(
  { db, waitUntilCurrent }: Needs,
  organization: string,
  id: string,
): Promise<RunRow | undefined> {
  if (!isUuid(id)) return undefined;
  return findOrWait(
    () => getRun(db, organization, id),
    () => waitUntilCurrent(["runs"], streamName("run", id.toLowerCase())),
  );
}

/** A run that the caller can access. Throws 404 `run_not_found`. */
export async function requireRun(http: Needs, caller: Caller, id: string): Promise<RunRow> {
  const row = await findRun(http, caller.organization_id, id);
  if (!row || !reachesProject(caller, row.project_id)) throw runNotFound();
  return row;
}
