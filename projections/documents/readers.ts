import { isDeepStrictEqual } from "node:util";
import type { DocumentReader } from "#events/documentDetails.ts";
import type { Principal } from "#events/envelope.ts";
import { listGroupsOf } from "../groups/query.ts";
import type { Db } from "../projection.ts";
import { findUserById } from "../users/query.ts";

/** All identities of a reader: a person with role and groups, or an end user. Empty: documents cannot name the reader. */
export type ReaderIdentity = readonly DocumentReader[];

/** Whether a document may be read. `readers` null: everybody who may read its collection. */
export const mayRead = (readers: readonly DocumentReader[] | null, identity: ReaderIdentity): boolean =>
  readers === null || readers.some((reader) => identity.some((own) => isDeepStrictEqual(own, reader)));

/** A person of the organization with current role and groups. */
async function identifyPerson(db: Db, organization_id: string, person: string): Promise<DocumentReader[]> {
  const [user, groups] = await Promise.all([findUserById(db, person), listGroupsOf(db, organization_id, person)]);
  if (user?.organization_id !== organization_id) return [];
  return [{ person: person.toLowerCase() }, { role: user.role }, ...groups.map((group) => ({ group }))];
}

/**
 * The identity with which a request or a turn reads. A person always reads as themselves, whatever user the request names; an API
 * key reads as the end user it names, if any.
 */
export async function identifyReader(
  db: Db,
  organization_id: string,
  { principal, user }: { principal: Principal; user: string | null },
): Promise<DocumentReader[]> {
  if (principal.startsWith("person:")) return identifyPerson(db, organization_id, principal.slice("person:".length));
  return principal.startsWith("key:") && user !== null ? [{ external_user: user }] : [];
}
