import type { Role } from "#events/user.ts";
import { decode, type Db } from "../projection.ts";

export interface SubstituteRow {
  user_id: string;
  substitute: { id: string; name: string; email: string; role: Role };
  from: Date;
  until: Date;
}

interface StoredRow extends Omit<SubstituteRow, "substitute"> {
  id: string;
  name: string;
  email: string;
  role: Role;
}

/** A person's substitute, unless the time is over or the substitute has left. */
export async function getSubstitute(db: Db, organization: string, user_id: string): Promise<SubstituteRow | undefined> {
  const [row] = await db.query<StoredRow>(
    `select s.user_id, u.id, u.name, u.email, u.role, s.from_time as "from", s.until_time as until
     from read.substitutes s join read.users u on u.id = s.substitute_id and u.organization_id = s.organization_id and u.active
     where s.organization_id = $1 and s.user_id = $2 and s.until_time > now()`,
    [organization, user_id],
  );
  if (!row) return undefined;
  const { id, name, email, role, ...rest } = row;
  return { ...rest, substitute: { id, name: decode(name), email: decode(email), role } };
}

/** Whether a person has a substitute, also one for another time or one that has left. */
export const hasSubstitute = async (db: Db, organization: string, user_id: string): Promise<boolean> =>
  (await db.query("select from read.substitutes where organization_id = $1 and user_id = $2", [organization, user_id]))
    .length > 0;

/** A person for whom somebody may decide now, with the names of the person's groups. */
export interface SubstitutedPerson {
  user_id: string;
  name: string;
  email: string;
  role: Role;
  groups: string[];
}

/** The people for whom a person is the substitute now. Empty for somebody who is not active in the organization. */
export async function listSubstituted(
  db: Db,
  organization: string,
  substitute_id: string,
): Promise<SubstitutedPerson[]> {
  const rows = await db.query<SubstitutedPerson>(
    `select u.id as user_id, u.name, u.email, u.role,
       array(select g.name from read.group_members m join read.groups g on g.id = m.group_id
             where m.organization_id = $1 and m.user_id = u.id order by g.name collate "C") as groups
     from read.substitutes s join read.users u on u.id = s.user_id and u.organization_id = s.organization_id and u.active
     where s.organization_id = $1 and s.substitute_id = $2 and s.from_time <= now() and s.until_time > now()
     order by u.created_at, u.id limit 100`,
    [organization, substitute_id],
  );
  return rows.map((row) => ({ ...row, name: decode(row.name), email: decode(row.email) }));
}
