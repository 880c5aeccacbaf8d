import { isUuid, streamOf } from "#events/ids.ts";
import { getProject, type ProjectRow } from "#projections/projects/query.ts";
import type { Caller } from "./auth/caller.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

type Needs = Pick<Http, "db" | "freshRead">;

/** A project of the organization as it stands now. */
export async function findProject(
  { db, freshRead }: Needs,
  organization: string,
  id: string,
): Promise<ProjectRow | undefined> {
  if (!isUuid(id)) return undefined;
  await freshRead(["projects"], streamOf("project", id.toLowerCase()));
  return getProject(db, organization, id);
}

/** The id of the project that something shall belong to, where one is named. Throws 400 `unknown_project`. */
export async function projectOf<P extends string | null | undefined>(
  http: Needs,
  { organization_id }: Pick<Caller, "organization_id">,
  project_id: P,
): Promise<P | string> {
  if (project_id === null || project_id === undefined) return project_id;
  const row = await findProject(http, organization_id, project_id);
  if (row) return row.id;
  throw new ApiError("unknown_project", "project_id: there is no such project.", { param: "project_id" });
}
