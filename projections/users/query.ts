import { decoded, encode, type Db } from "../projection.ts";

export interface UserRow {
  id: string;
  organization_id: string;
  role: string;
  email: string;
  name: string;
  /** argon2id, in PHC form. */
  password_hash: string;
  organization_name: string;
}

/** Who signs in with this address (lower case). */
export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(
    `select u.id, u.organization_id, u.role, u.email, u.name, u.password_hash, o.name as organization_name
     from read.users u join read.organizations o on o.id = u.organization_id
     where u.email = $1
       and not exists (select from log.parked p where p.projection = 'users' and p.stream = 'user-' || u.id)
     order by u.created_at limit 1`,
    [encode(email)],
  );
  if (!row) return undefined;
  return {
    ...row,
    email: decoded(row.email),
    name: decoded(row.name),
    organization_name: decoded(row.organization_name),
  };
}
