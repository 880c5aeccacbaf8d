import type { Principal } from "#events/envelope.ts";
import { ownerScope } from "#events/scope.ts";
import type { Db } from "./projection.ts";

/**
 * The owners behind a `user` value: of each key and person that has threads or files, and of each agent that answered them. The
 * value itself is stored nowhere, so each of these may have none.
 */
export async function listUserScopes(db: Db, organization: string, user: string): Promise<string[]> {
  const rows = await db.query<{ principal: Principal; agent_id: string | null }>(
    `select distinct principal, agent_id from read.threads where organization_id = $1
     union select distinct principal, null::uuid from read.files where organization_id = $1`,
    [organization],
  );
  return [...new Set(rows.map(({ principal, agent_id }) => ownerScope(principal, user, agent_id ?? undefined)))];
}
