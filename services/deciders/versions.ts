import { Rejection } from "#events/rejection.ts";

/**
 * Maximum versions of a definition or an agent. All are kept, because runs and responses name the version that they use. A page of
 * an agent's versions reads all earlier ones, too.
 */
const MAX_VERSIONS = 10_000;

/** Throws `too_many_versions` if the newest version is the last one that is allowed. */
export function requireFewVersions(thing: "definition" | "agent", newest: number): void {
  if (newest < MAX_VERSIONS) return;
  const message = `This ${thing} has ${MAX_VERSIONS.toLocaleString("en")} versions, the maximum; create another one.`;
  throw new Rejection("too_many_versions", message);
}
