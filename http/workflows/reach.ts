import { isUuid, streamOf } from "#events/ids.ts";
import type { Actor } from "#events/run.ts";
import { getRun, type RunRow } from "#projections/runs/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";

type Needs = Pick<Http, "db" | "freshRead">;

/** A key of a project reaches what is of that project, and what is of none. */
export const isInReach = (caller: Pick<Caller, "project_id">, project_id: string | null): boolean =>
  caller.project_id === null || project_id === null || caller.project_id === project_id;

/** Who asks, as a run remembers it. */
export function actorOf({ principal, session }: Caller): Actor {
  if (session) return { type: "person", id: session.user_id };
  return { type: "api_key", id: principal.slice("key:".length) };
}

export const runNotFound = () => new ApiError("run_not_found", "No run has this id.", { param: "run_id" });

/** A run of the organization; one that is not found may have been started a moment ago. */
export async function findRun({ db, freshRead }: Needs, organization: string, id: string): Promise<RunRow | undefined> {
  if (!isUuid(id)) return undefined;
  const find = () => getRun(db, organization, id);
  const row = await find();
  if (row) return row;
  await freshRead(["runs"], streamOf("run", id.toLowerCase()));
  return find();
}

/** A run in the caller's reach. Throws 404 `run_not_found`. */
export async function reachRun(http: Needs, caller: Caller, id: string): Promise<RunRow> {
  const row = await findRun(http, caller.organization_id, id);
  if (!row || !isInReach(caller, row.project_id)) throw runNotFound();
  return row;
}
