import type { Role } from "#events/user.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, encode, findById, findRow, type Db } from "../projection.ts";

/** A person as other members of the organization see them. */
export interface MemberRow {
  id: string;
  email: string;
  name: string;
  role: Role;
  active: boolean;
  created_at: Date;
  updated_at: Date;
}

/** A person as the sign-in needs them. */
export interface UserRow extends Pick<MemberRow, "id" | "email" | "name" | "role"> {
  organization_id: string;
  organization_name: string;
  /** argon2id, in PHC form. */
  password_hash: string;
  /** The epoch for a session that starts now. */
  epoch: number;
}

const USER = `select u.id, u.organization_id, u.role, u.email, u.name, u.password_hash, u.epoch, o.name as organization_name
  from read.users u join read.organizations o on o.id = u.organization_id
  where u.active
    and not exists (select from log.parked p where p.projection = 'users' and p.stream = 'organization-' || u.organization_id)`;
const MEMBER = "select id, email, name, role, active, created_at, updated_at from read.users";

const decodeNames = <R extends { email: string; name: string }>(row: R): R => ({
  ...row,
  email: decode(row.email),
  name: decode(row.name),
});

const parseUser = (row: UserRow): UserRow => ({
  ...decodeNames(row),
  organization_name: decode(row.organization_name),
});

/** Active people with this e-mail address (lower case), in one organization or, with null, in all: those registered first. */
export async function findUsersByEmail(
  db: Db,
  email: string,
  { organization, limit }: { organization: string | null; limit: number },
): Promise<UserRow[]> {
  const rows = await db.query<UserRow>(
    `${USER} and u.email = $1 and ($2::uuid is null or u.organization_id = $2) order by u.created_at, u.id limit $3`,
    [encode(email), organization, limit],
  );
  return rows.map(parseUser);
}

export const findUserById = (db: Db, id: string): Promise<UserRow | undefined> =>
  findRow(db, `${USER} and u.id = $1`, [id], parseUser);

export const getMember = findById(`${MEMBER} where organization_id = $1 and id = $2`, decodeNames<MemberRow>);

/** An organization's people in order of registration. */
export const listMembers = (db: Db, organization: string, page: Page): Promise<PageRows<MemberRow>> =>
  readPage(db, page, {
    ordered: `${MEMBER} where organization_id = $1 order by created_at, id`,
    from: "from read.users where organization_id = $1",
    values: [organization],
    parseRow: decodeNames<MemberRow>,
  });
