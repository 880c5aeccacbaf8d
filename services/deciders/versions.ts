import { Rejection } from "#events/rejection.ts";

/**
 * Maximum versions of a definition, and of an agent. All are kept, because runs and responses name theirs. A page of an agent's
 * versions reads all earlier ones.
 */
const MAX_VERSIONS = 10_000;

/** Throws `too_many_versions` if a thing has no room for a version after its newest one. */
export function requireFewVersions(thing: "definition" | "agent", newest: number): void {
  if (newest < MAX_VERSIONS) return;
  const message = `This ${thing} has ${MAX_VERSIONS.toLocaleString("en")} versions, the maximum; create another one.`;
  throw new Rejection("too_many_versions", message);
}
