import { isBuiltInTool } from "#events/tools.ts";
import type { DefinitionRow } from "#projections/definitions/query.ts";
import { ApiError } from "../base/errors.ts";
import type { CheckedScript } from "../base/scriptChecker.ts";
import { unique } from "./keyShape.ts";

/**
 * Returns the definition's name, from the request or the script's meta. Refuses names that differ, and tools with a built-in
 * tool's name.
 */
export function chooseName(
  type: DefinitionRow["type"],
  requested: string | undefined,
  inScript: string | undefined,
): string {
  if (requested && inScript && requested !== inScript)
    throw new ApiError("invalid_name", `name: the script's meta has the name ${JSON.stringify(inScript)}.`, {
      param: "name",
    });
  const name = requested ?? inScript;
  if (!name) throw new ApiError("missing_name", "name is required when the script's meta has none.", { param: "name" });
  if (type === "tool" && isBuiltInTool(name))
    throw new ApiError("invalid_name", `name: ${name} is a built-in tool.`, { param: "name" });
  return name;
}

/** Returns the secrets that the script may read, without duplicates. Throws `unknown_grant` for one that its meta does not list. */
export function checkGrants(requested: string[], { meta }: CheckedScript): string[] {
  const grants = unique(requested);
  const unknown = grants.findIndex((name) => !meta.secrets.includes(name));
  if (unknown === -1) return grants;
  const param = `grants[${unknown}]`;
  throw new ApiError("unknown_grant", `${param}: the script does not list this secret in meta.secrets.`, { param });
}

/** Removes grants that the new version of the script no longer lists. */
export const filterGrants = (grants: string[], { meta }: CheckedScript): string[] =>
  grants.filter((name) => meta.secrets.includes(name));
