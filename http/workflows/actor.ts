import type { Actor } from "#events/runOrigin.ts";
import type { Caller } from "../base/caller.ts";

/** The caller in the form that a run's events record. */
export function actorFrom({ principal, session }: Caller): Actor {
  if (session) return { type: "person", id: session.user_id };
  return { type: "api_key", id: principal.slice("key:".length) };
}
