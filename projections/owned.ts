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
  const list = (table: "threads" | "files", where: string, limit: number) =>
    db.query<OwnedRow>(
      `select o.id, o.scope from read.${table} o
       where o.organization_id = $1 and ${isOwner} and o.position < $3 and ${where} order by o.position limit $4`,
      [organization, value, before, limit],
    );
  const tables = (["threads", "files"] as const).filter((table) => table === "threads" || column !== "agent_id");
  const lists = await Promise.all(tables.map((table) => list(table, `not ${isHeld(table)}`, BATCH)));
  const held = await Promise.all(tables.map((table) => list(table, isHeld(table), 1)));
  return { threads: lists[0]!, files: lists[1] ?? [], held: held.some(({ length }) => length > 0) };
}
