import { resolveCollections } from "#projections/collections/query.ts";
import type { Http } from "./deps.ts";

/**
 * Finds collections by slug or display name. A missing one may have been created a moment ago, so this waits for the read model
 * once.
 */
export async function resolveCurrentCollections(
  { db, waitUntilCurrent }: Pick<Http, "db" | "waitUntilCurrent">,
  organization: string,
  names: string[],
): ReturnType<typeof resolveCollections> {
  const resolved = await resolveCollections(db, organization, names);
  if (resolved.unknown.length === 0) return resolved;
  await waitUntilCurrent(["collections"]);
  return resolveCollections(db, organization, names);
}
