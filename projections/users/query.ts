import { isUuid } from "#events/ids.ts";
import type { Role } from "#events/user.ts";
import { decoded, encode, type Db } from "../projection.ts";

/** A person as others of the organization see it. */
export interface MemberRow {
  id: string;
  email: string;
  name: string;
  role: Role;
  active: boolean;
  created_at: Date;
  updated_at: Date;
}

/** What signing in needs of a person. */
export interface UserRow extends Pick<MemberRow, "id" | "email" | "name" | "role"> {
  organization_id: string;
  organization_name: string;
  /** argon2id, in PHC form. */
  password_hash: string;
  /** A session that starts now is of this epoch. */
  epoch: number;
}

const USER = `select u.id, u.organization_id, u.role, u.email, u.name, u.password_hash, u.epoch, o.name as organization_name
  from read.users u join read.organizations o on o.id = u.organization_id
  where u.active
    and not exists (select from log.parked p where p.projection = 'users' and p.stream = 'organization-' || u.organization_id)`;
const MEMBER = "select id, email, name, role, active, created_at, updated_at from read.users";

const named = <R extends { email: string; name: string }>(row: R): R => ({
  ...row,
  email: decoded(row.email),
  name: decoded(row.name),
});

async function findUser(db: Db, condition: string, value: unknown): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(`${USER} and ${condition} order by u.created_at limit 1`, [value]);
  return row && { ...named(row), organization_name: decoded(row.organization_name) };
}

/** Who signs in with this address (lower case); nobody who was deactivated. */
export const findUserByEmail = (db: Db, email: string) => findUser(db, "u.email = $1", encode(email));

export const findUserById = (db: Db, id: string) => findUser(db, "u.id = $1", id);

export async function getMember(db: Db, organization: string, id: string): Promise<MemberRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<MemberRow>(`${MEMBER} where organization_id = $1 and id = $2`, [organization, id]);
  return row && named(row);
}

/** An organization's people, in the order they came. */
export async function listMembers(
  db: Db,
  organization: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: MemberRow[]; total: number }> {
  const rows = await db.query<MemberRow>(
    `${MEMBER} where organization_id = $1 order by created_at, id limit $2 offset $3`,
    [organization, limit, offset],
  );
  const [count] = await db.query<{ total: number }>(
    "select count(*)::integer as total from read.users where organization_id = $1",
    [organization],
  );
  return { rows: rows.map(named), total: count!.total };
}
