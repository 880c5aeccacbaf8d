import type { RouteRules, RouteTarget } from "#events/route.ts";
import { decode, findRow, type Db } from "../projection.ts";
import { aliasId } from "./project.ts";

export interface AliasRow extends RouteRules {
  alias: string;
  targets: RouteTarget[];
  updated_at: Date;
}

type StoredRow = { name: string; settings: string; updated_at: Date };
const parseRow = ({ name, settings, updated_at }: StoredRow): AliasRow => ({
  alias: name,
  ...decode<Omit<AliasRow, "alias" | "updated_at">>(settings),
  updated_at,
});

/** An organization's aliases by name. */
export async function listAliases(db: Db, organization: string): Promise<AliasRow[]> {
  const rows = await db.query<StoredRow>(
    'select name, settings, updated_at from read.aliases where organization_id = $1 order by name collate "C"',
    [organization],
  );
  return rows.map(parseRow);
}

export const getAlias = (db: Db, organization: string, name: string): Promise<AliasRow | undefined> =>
  findRow(
    db,
    "select name, settings, updated_at from read.aliases where organization_id = $1 and id = $2",
    [organization, aliasId(organization, name)],
    parseRow,
  );
