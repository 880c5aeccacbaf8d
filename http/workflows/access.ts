import type { Actor } from "#events/runOrigin.ts";
import type { Caller } from "../base/caller.ts";

/** The caller as the events of a run record it. */
export function actorFrom({ principal, session }: Caller): Actor {
  if (session) return { type: "person", id: session.user_id };
  return { type: "api_key", id: principal.slice("key:".length) };
}
