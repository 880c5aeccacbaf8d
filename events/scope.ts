import { createHash } from "node:crypto";
import type { Principal } from "./envelope.ts";

/**
 * Whom a thread or a file belongs to: the pair (principal, user value), or with the agent the triple, as a hash, so that
 * the user value does not show. A missing user value differs from an empty one (spec: Authentication, rule 5).
 */
export function scopeOf(principal: Principal, user: string | undefined, agent?: string): string {
  return createHash("sha256")
    .update(JSON.stringify([principal, user ?? null, ...(agent === undefined ? [] : [agent])]))
    .digest("base64url");
}

/** Whom the threads belong to that steps of a run have begun: the run alone. */
export const scopeOfRun = (run_id: string): string => `run:${run_id}`;
