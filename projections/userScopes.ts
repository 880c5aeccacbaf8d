import type { Principal } from "#events/envelope.ts";
import { ownerScope } from "#events/scope.ts";
import { mapInSlices } from "#events/slices.ts";
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
  const toScope = ({ principal, agent_id }: (typeof rows)[number]) =>
    ownerScope(principal, user, agent_id ?? undefined);
  // thousands of hashes of a long value
  return [...new Set(await mapInSlices(rows, toScope))];
}

/** The ones of these scopes that own threads or files. */
export async function findUsedScopes(db: Db, organization: string, scopes: string[]): Promise<string[]> {
  const rows = await db.query<{ scope: string }>(
    `select own.scope from unnest($2::text[]) as own(scope)
     where exists (select from read.threads t where t.organization_id = $1 and t.scope = own.scope)
       or exists (select from read.files f where f.organization_id = $1 and f.scope = own.scope)`,
    [organization, scopes],
  );
  return rows.map(({ scope }) => scope);
}
