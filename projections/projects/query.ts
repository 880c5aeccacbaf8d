import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, findById, type Db } from "../projection.ts";

export interface ProjectRow {
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
}

const SELECT = "select id, name, created_at, updated_at from read.projects";
const parseRow = (row: ProjectRow): ProjectRow => ({ ...row, name: decode(row.name) });

export const getProject = findById(`${SELECT} where id = $2 and organization_id = $1`, parseRow);

/** In order of creation. */
export const listProjects = (db: Db, organization: string, page: Page): Promise<PageRows<ProjectRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where organization_id = $1 order by created_at, id`,
    from: "from read.projects where organization_id = $1",
    values: [organization],
    parseRow,
  });

/** Counts the keys, agents and enabled workflows of a project. */
export async function countProjectUses(
  db: Db,
  organization: string,
  id: string,
): Promise<{ keys: number; agents: number; workflows: number }> {
  const [uses] = await db.query<{ keys: number; agents: number; workflows: number }>(
    `select
       (select count(*) from read.keys where organization_id = $1 and project_id = $2)::integer as keys,
       (select count(*) from read.agents where organization_id = $1 and project_id = $2)::integer as agents,
       (select count(*) from read.workflows where organization_id = $1 and project_id = $2 and enabled)::integer as workflows`,
    [organization, id],
  );
  return uses!;
}
