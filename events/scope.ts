import { createHash } from "node:crypto";
import type { Principal } from "./envelope.ts";

/**
 * The owner of a thread or file: a hash of (principal, user value), for agents also of the agent. The hash hides the user value.
 * A missing user value differs from an empty one (spec: Authentication, rule 5).
 */
export function ownerScope(principal: Principal, user: string | undefined, agent?: string): string {
  return createHash("sha256")
    .update(JSON.stringify([principal, user ?? null, ...(agent === undefined ? [] : [agent])]))
    .digest("base64url");
}

/** The owner of the threads that steps of a run start: only the run can read them. */
export const runScope = (run_id: string): string => `run:${run_id}`;

/** The run whose step started a thread; null for a thread of someone else. */
export const runOfScope = (scope: string): string | null => (scope.startsWith("run:") ? scope.slice(4) : null);
