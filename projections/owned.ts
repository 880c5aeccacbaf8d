import { isHeld } from "./holds/query.ts";
import { ownerColumn, readOwner } from "./owner.ts";
import type { Db } from "./projection.ts";

/** Threads and files that are deleted together. */
const BATCH = 50;

interface OwnedRow {
  id: string;
  scope: string;
}

/**
 * Some threads and files of an owner, or of these scopes, that were created before a position and that no hold covers, oldest first,
 * and whether a hold covers others. Agents have no files.
 */
export async function listOwned(
  db: Db,
  organization: string,
  { owner, scopes }: { owner: string; scopes?: string[] | undefined },
  before: number,
): Promise<{ threads: OwnedRow[]; files: OwnedRow[]; held: boolean }> {
  const { column, value } = scopes ? { column: "scope" as const, value: scopes } : ownerColumn(readOwner(owner));
  const isOwner = column === "scope" ? "o.scope = any ($2::text[])" : `o.${column} = $2`;
  const rowsOf = (table: "threads" | "files", where: string, limit: number) =>
    `(select o.id, o.scope, ${isHeld(table)} as held from read.${table} o
      where o.organization_id = $1 and ${isOwner} and o.position < $3 and ${where} order by o.position limit ${limit})`;
  // one statement, so that a hold which comes or goes meanwhile cannot hide a row from both halves
  const list = (table: "threads" | "files") =>
    db.query<OwnedRow & { held: boolean }>(
      `${rowsOf(table, `not ${isHeld(table)}`, BATCH)} union all ${rowsOf(table, isHeld(table), 1)}`,
      [organization, value, before],
    );
  const [threads, files] = await Promise.all([list("threads"), column === "agent_id" ? [] : list("files")]);
  const free = (rows: typeof threads): OwnedRow[] =>
    rows.flatMap(({ id, scope, held }) => (held ? [] : [{ id, scope }]));
  return { threads: free(threads), files: free(files), held: [...threads, ...files].some(({ held }) => held) };
}
