import { ownerColumn, readOwner } from "./owner.ts";
import type { Db } from "./projection.ts";

/** Threads and files that are deleted together. */
const BATCH = 50;

interface OwnedRow {
  id: string;
  scope: string;
}

/** Some threads and files of an owner, or of these scopes, that were created before a position, oldest first. Agents have no files. */
export async function listOwned(
  db: Db,
  organization: string,
  { owner, scopes }: { owner: string; scopes?: string[] | undefined },
  before: number,
): Promise<{ threads: OwnedRow[]; files: OwnedRow[] }> {
  const { column, value } = scopes ? { column: "scope" as const, value: scopes } : ownerColumn(readOwner(owner));
  const isOwner = column === "scope" ? "scope = any ($2::text[])" : `${column} = $2`;
  const list = (table: "threads" | "files") =>
    db.query<OwnedRow>(
      `select id, scope from read.${table} where organization_id = $1 and ${isOwner} and position < $3 order by position limit $4`,
      [organization, value, before, BATCH],
    );
  const [threads, files] = await Promise.all([list("threads"), column === "agent_id" ? [] : list("files")]);
  return { threads, files };
}
