import { decoded, type Db } from "../projection.ts";

export interface OrganizationRow {
  id: string;
  name: string;
  created_at: Date;
}

export async function getOrganization(db: Db, id: string): Promise<OrganizationRow | undefined> {
  const [row] = await db.query<OrganizationRow>("select id, name, created_at from read.organizations where id = $1", [id]);
  return row && { ...row, name: decoded(row.name) };
}
