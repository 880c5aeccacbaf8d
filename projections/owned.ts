import { runOfScope } from "#events/scope.ts";
import type { ErasedKind } from "#events/erasure.ts";
import { isHeld } from "./holds/query.ts";
import { ownerColumn, readOwner } from "./owner.ts";
import type { Db } from "./projection.ts";
import { listRunsToErase, runOwnerOf } from "./runs/ownedRuns.ts";

/** Things of one kind that are deleted together. */
const BATCH = 50;

interface Owned {
  id: string;
  scope: string;
}

/** Whose things, and which: `owner` as the event ErasureStarted has it. */
export interface OwnedQuery {
  owner: string;
  /** Of an external user. */
  scopes?: string[] | undefined;
  documents?: string[] | undefined;
  kinds: readonly ErasedKind[];
}

/** Some of what an owner has, oldest first. */
export interface OwnedThings {
  threads: Owned[];
  files: Owned[];
  /** Ids. */
  documents: string[];
  extractions: string[];
  runs: { live: string[]; ended: string[] };
  /** Whether a hold covers others. */
  held: boolean;
}

interface Batch<Row> {
  rows: Row[];
  held: boolean;
}
const NOTHING = { rows: [], held: false };

/** Rows `o` of a read model; `where` may name $2. One statement, so that a hold which comes or goes meanwhile cannot hide a row from both halves. */
async function listBatch<Row extends object>(
  db: Db,
  { columns, from, hold }: { columns: string; from: string; hold: string },
  values: unknown[],
): Promise<Batch<Row>> {
  const part = (where: string, limit: number) =>
    `(select ${columns}, ${hold} as held ${from} and ${where} order by position limit ${limit})`;
  const rows = await db.query<Row & { held: boolean }>(
    `${part(`not ${hold}`, BATCH)} union all ${part(hold, 1)}`,
    values,
  );
  return { rows: rows.filter(({ held }) => !held), held: rows.some(({ held }) => held) };
}

/** Threads and files of an owner, or of an external user's scopes. Files that steps of runs have saved go with their runs. */
function listScoped(db: Db, table: "threads" | "files", organization: string, query: OwnedQuery, before: number) {
  const { owner, scopes } = query;
  const { column, value } = scopes
    ? { column: "scope", value: scopes.filter((scope) => runOfScope(scope) === null) }
    : ownerColumn(readOwner(owner));
  // agents have no files
  if (table === "files" && column === "agent_id") return NOTHING;
  const isOwner = column === "scope" ? "o.scope = any ($2::text[])" : `o.${column} = $2`;
  const from = `from read.${table} o where o.organization_id = $1 and ${isOwner} and o.position < $3`;
  return listBatch<Owned>(db, { columns: "o.id, o.scope", from, hold: isHeld(table) }, [organization, value, before]);
}

/** Documents that the owner uploaded first, or those of an external user. */
function listDocuments(db: Db, organization: string, { owner, scopes, documents }: OwnedQuery, before: number) {
  const isOwner = scopes ? "g.id = any ($2::uuid[])" : "g.principal = $2";
  const from = `from read.usage_holdings g join read.documents o on o.id = g.id
    where g.organization_id = $1 and ${isOwner} and g.position < $3`;
  const values = [organization, scopes ? (documents ?? []) : owner, before];
  return listBatch<{ id: string }>(db, { columns: "o.id", from, hold: isHeld("documents") }, values);
}

/** No hold covers extractions: they live for a day. */
function listExtractions(db: Db, organization: string, { owner, scopes }: OwnedQuery, before: number) {
  if (scopes) return NOTHING;
  const from = `from read.usage_holdings g join read.extractions o on o.id = g.id
    where g.organization_id = $1 and g.principal = $2 and g.position < $3`;
  return listBatch<{ id: string }>(db, { columns: "o.id", from, hold: "false" }, [organization, owner, before]);
}

/** Some of what an owner has that was created before a position and that no hold covers. */
export async function listOwned(db: Db, organization: string, query: OwnedQuery, before: number): Promise<OwnedThings> {
  const isWanted = (kind: ErasedKind): boolean => query.kinds.includes(kind);
  const runOwner = isWanted("runs") ? runOwnerOf(query.owner, query.scopes) : undefined;
  const [threads, files, documents, extractions, runs] = await Promise.all([
    isWanted("threads") ? listScoped(db, "threads", organization, query, before) : NOTHING,
    isWanted("files") ? listScoped(db, "files", organization, query, before) : NOTHING,
    isWanted("documents") ? listDocuments(db, organization, query, before) : NOTHING,
    isWanted("extractions") ? listExtractions(db, organization, query, before) : NOTHING,
    runOwner ? listRunsToErase(db, { organization, owner: runOwner, before }) : { live: [], ended: [], held: false },
  ]);
  const free = ({ rows }: Batch<Owned>): Owned[] => rows.map(({ id, scope }) => ({ id, scope }));
  const ids = ({ rows }: Batch<{ id: string }>): string[] => rows.map(({ id }) => id);
  return {
    threads: free(threads),
    files: free(files),
    documents: ids(documents),
    extractions: ids(extractions),
    runs: { live: runs.live, ended: runs.ended },
    held: [threads, files, documents, runs].some(({ held }) => held),
  };
}
