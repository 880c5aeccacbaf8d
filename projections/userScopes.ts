import type { Principal } from "#events/envelope.ts";
import { ownerScope } from "#events/scope.ts";
import type { Db } from "./projection.ts";

/**
 * All possible owners behind a `user` value: for each key and person with threads or files, and for each agent that answered them.
 * The value itself is not stored, so some of these may own nothing.
 */
export async function listUserScopes(db: Db, organization: string, user: string): Promise<string[]> {
  const rows = await db.query<{ principal: Principal; agent_id: string | null }>(
    `select distinct principal, agent_id from read.threads where organization_id = $1
     union select distinct principal, null::uuid from read.files where organization_id = $1`,
    [organization],
  );
  return [...new Set(rows.map(({ principal, agent_id }) => ownerScope(principal, user, agent_id ?? undefined)))];
}
