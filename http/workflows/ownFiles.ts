import { RunFiles } from "#events/runOrigin.ts";
import { ownerScope } from "#events/scope.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findFile } from "../turns/files.ts";

const Files = RunFiles.transform((ids) => [...new Set(ids.map((id) => id.toLowerCase()))]);

/** Checks files of the caller that the run may read from now on. Throws 400 `invalid_files`. */
export async function readOwnFiles(
  http: Pick<Http, "db" | "waitUntilCurrent">,
  { organization_id, principal }: Pick<Caller, "organization_id" | "principal">,
  sent: unknown,
): Promise<string[]> {
  const { data, error } = Files.safeParse(sent ?? []);
  const refuse = (path: PropertyKey[], why: string) => {
    const param = ["files", ...path.map(String)].join(".");
    return new ApiError("invalid_files", `${param}: ${why}`, { param });
  };
  if (!data) throw refuse(error.issues[0]!.path, "must be at most 20 ids of files that you have uploaded.");
  const scope = ownerScope(principal, undefined);
  for (const [n, id] of data.entries())
    if (!(await findFile(http, organization_id, scope, id)))
      throw refuse([n], "you have no such file; upload it to /files first, without a user.");
  return data;
}

/** The field for a command; left out if there are no files. */
export const filesField = (files: string[]) => files.length > 0 && { files };
