import { isDeepStrictEqual } from "node:util";
import type { Reader } from "#events/documentDetails.ts";
import type { Principal } from "#events/envelope.ts";
import { listGroupsOf } from "../groups/query.ts";
import type { Db } from "../projection.ts";
import { findUserById } from "../users/query.ts";

/** Everything that a reader is: a person with role and groups, or an end user. Empty: nobody that a document could name. */
export type ReaderIdentity = readonly Reader[];

/** Whether a document may be read. `readers` null: by everybody who may read its collection. */
export const mayRead = (readers: readonly Reader[] | null, identity: ReaderIdentity): boolean =>
  readers === null || readers.some((reader) => identity.some((own) => isDeepStrictEqual(own, reader)));

/** A person of the organization, as they are now. */
async function identifyPerson(db: Db, organization_id: string, person: string): Promise<Reader[]> {
  const [user, groups] = await Promise.all([findUserById(db, person), listGroupsOf(db, organization_id, person)]);
  if (user?.organization_id !== organization_id) return [];
  return [{ person: person.toLowerCase() }, { role: user.role }, ...groups.map((group) => ({ group }))];
}

/**
 * Whom a request or a turn reads as. A person is that person, whatever user the request names; an API key is the end user that
 * it names, or nobody.
 */
export async function identifyReader(
  db: Db,
  organization_id: string,
  { principal, user }: { principal: Principal; user: string | null },
): Promise<Reader[]> {
  if (principal.startsWith("person:")) return identifyPerson(db, organization_id, principal.slice("person:".length));
  return principal.startsWith("key:") && user !== null ? [{ external_user: user }] : [];
}
