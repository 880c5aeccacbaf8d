import { isUuid, streamName } from "#events/ids.ts";
import { getProject, type ProjectRow } from "#projections/projects/query.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

type Needs = Pick<Http, "db" | "waitUntilCurrent">;

/** Finds the current state of a project. */
export async function findProject(
  { db, waitUntilCurrent }: Needs,
  organization: string,
  id: string,
): Promise<ProjectRow | undefined> {
  if (!isUuid(id)) return undefined;
  await waitUntilCurrent(["projects"], streamName("project", id.toLowerCase()));
  return getProject(db, organization, id);
}

/** Returns the id of a project after checking that it exists. Without an id nothing is checked. Throws 400 `unknown_project`. */
export async function requireProject<P extends string | null | undefined>(
  http: Needs,
  { organization_id }: { organization_id: string },
  project_id: P,
): Promise<P | string> {
  if (project_id === null || project_id === undefined) return project_id;
  const row = await findProject(http, organization_id, project_id);
  if (row) return row.id;
  throw new ApiError("unknown_project", "project_id: there is no such project.", { param: "project_id" });
}
