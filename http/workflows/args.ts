import { getWorkflowVersion } from "#projections/definitions/query.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { schemaCheck, type SchemaCheck } from "./jsonSchema.ts";

interface Bound {
  organization_id: string;
  definition_id: string;
  definition_version: number;
}

const KEPT = 500;
/** By definition and version, which never change. */
const checks = new Map<string, SchemaCheck>();

/** What the arguments of a version of a workflow must be like. Throws 404 `definition_not_found`. */
export async function argsCheck(
  { db, freshRead }: Pick<Http, "db" | "freshRead">,
  { organization_id, definition_id, definition_version }: Bound,
): Promise<SchemaCheck> {
  const name = `${definition_id}/${definition_version}`;
  const known = checks.get(name);
  if (known) return known;
  const find = () => getWorkflowVersion(db, organization_id, definition_id, definition_version);
  let version = await find();
  if (!version) {
    await freshRead(["definitions"]);
    version = await find();
  }
  if (!version) throw new ApiError("definition_not_found", "The definition of this workflow is gone.");
  const check = schemaCheck(version.meta.parameters);
  checks.set(name, check);
  if (checks.size > KEPT) checks.delete(checks.keys().next().value!);
  return check;
}
