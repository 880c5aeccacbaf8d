import { dropOldest } from "#events/dropOldest.ts";
import { getWorkflowVersion } from "#projections/definitions/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";

type JsonSchema = Record<string, unknown>;

interface WorkflowDefinition {
  organization_id: string;
  definition_id: string;
  definition_version: number;
}

/** Maximum cached schemas, enough for the workflows in use. */
const MAX_CACHED = 500;
/** Keyed by definition and version, which never change. */
const cache = new Map<string, JsonSchema>();

/** Keywords that remain valid when some arguments are missing. */
const PARTIAL_WORDS = new Set([
  ..."$schema $id $anchor $defs definitions type properties patternProperties additionalProperties".split(" "),
  ..."propertyNames maxProperties".split(" "),
]);

/** The schema for incomplete arguments, the rest of which the caller sends. */
export const partialSchema = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([word]) => PARTIAL_WORDS.has(word)));

/** The JSON Schema of a workflow's arguments. Throws 404 `definition_not_found`. */
export async function loadArgsSchema(
  { db, waitUntilCurrent }: Pick<Http, "db" | "waitUntilCurrent">,
  { organization_id, definition_id, definition_version }: WorkflowDefinition,
): Promise<JsonSchema> {
  const name = `${definition_id}/${definition_version}`;
  const cached = cache.get(name);
  if (cached) return cached;
  const version = await findOrWait(
    () => getWorkflowVersion(db, organization_id, definition_id, definition_version),
    () => waitUntilCurrent(["definitions"]),
  );
  if (!version) throw new ApiError("definition_not_found", "The definition of this workflow has been deleted.");
  cache.set(name, version.meta.parameters);
  dropOldest(cache, MAX_CACHED);
  return version.meta.parameters;
}
