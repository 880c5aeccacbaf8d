import { mapInSlices } from "#events/slices.ts";
import { decode, findRow, type Db } from "../projection.ts";
import { groupId } from "./project.ts";

export interface GroupRow {
  group: string;
  /** The active people among its members, by the time of their registration. */
  members: { id: string; name: string; email: string; role: string }[];
  updated_at: Date;
}

interface StoredRow {
  name: string;
  updated_at: Date;
  members: { id: string; name: string; email: string; role: string }[];
}

const SELECT = `select g.name, g.updated_at, coalesce((
    select json_agg(json_build_object('id', u.id, 'name', u.name, 'email', u.email, 'role', u.role) order by u.created_at, u.id)
    from read.group_members m join read.users u on u.id = m.user_id and u.organization_id = g.organization_id and u.active
    where m.group_id = g.id), '[]') as members
  from read.groups g where g.organization_id = $1`;

const parseRow = ({ name, updated_at, members }: StoredRow): GroupRow => ({
  group: name,
  members: members.map((member) => ({ ...member, name: decode(member.name), email: decode(member.email) })),
  updated_at,
});

/** An organization's groups by name. */
export async function listGroups(db: Db, organization: string): Promise<GroupRow[]> {
  const rows = await db.query<StoredRow>(`${SELECT} order by g.name collate "C"`, [organization]);
  // an organization may have 200 groups of 500 people
  return mapInSlices(rows, parseRow);
}

export const getGroup = (db: Db, organization: string, name: string): Promise<GroupRow | undefined> =>
  findRow(db, `${SELECT} and g.id = $2`, [organization, groupId(organization, name)], parseRow);

/** The names of the groups that a person is in. */
export async function listGroupsOf(db: Db, organization: string, user_id: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select g.name from read.group_members m join read.groups g on g.id = m.group_id
     where m.organization_id = $1 and m.user_id = $2 order by g.name collate "C"`,
    [organization, user_id],
  );
  return rows.map(({ name }) => name);
}

/** Those of the groups with these names that have an active member. */
export async function findGroupsWithMembers(db: Db, organization: string, names: string[]): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select g.name from read.groups g where g.organization_id = $1 and g.name = any ($2::text[])
       and exists (select from read.group_members m
         join read.users u on u.id = m.user_id and u.organization_id = g.organization_id and u.active
         where m.group_id = g.id)`,
    [organization, names],
  );
  return rows.map(({ name }) => name);
}

/** The ids among `ids` that are no active people of the organization. */
export async function findUnknownPeople(db: Db, organization: string, ids: string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    "select id from read.users where organization_id = $1 and active and id = any ($2::uuid[])",
    [organization, ids],
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}
