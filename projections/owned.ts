import { runOfScope } from "#events/scope.ts";
import type { ErasedKind } from "#events/erasure.ts";
import type { OwnedQuery, OwnedThing, OwnedThings } from "#events/ownedThings.ts";
import { HOLD_CONDITIONS, existsHold } from "./holds/query.ts";
import { ownerColumn, readOwner } from "./owner.ts";
import type { Db } from "./projection.ts";
import { listRunsToErase, runOwnerOf } from "./runs/ownedRuns.ts";

/** The read models that `listOwned` and `countOwned` read. */
export const OWNED_MODELS = ["turns", "files", "documents", "extractions", "runs", "usage", "holds"];
/** Maximum things of one kind that are deleted together. */
const BATCH = 50;

interface Batch<Row> {
  rows: Row[];
  held: boolean;
}
const NOTHING = { rows: [], held: false };

/** The rows `o` of a read model that belong to an owner: SQL that ends with a condition. */
export interface OwnedRows {
  from: string;
  values: unknown[];
  /** SQL: the hold `h` covers the row. Holds never cover extractions, which live for a day. */
  covers: string;
}

/** A single statement, so that a hold placed or released meanwhile cannot hide a row from both halves. */
async function listBatch<Row extends object>(
  db: Db,
  columns: string,
  { from, values, covers }: OwnedRows,
): Promise<Batch<Row>> {
  const hold = existsHold(covers);
  const part = (where: string, limit: number) =>
    `(select ${columns}, ${hold} as held ${from} and ${where} order by position limit ${limit})`;
  const rows = await db.query<Row & { held: boolean }>(
    `${part(`not ${hold}`, BATCH)} union all ${part(hold, 1)}`,
    values,
  );
  return { rows: rows.filter(({ held }) => !held), held: rows.some(({ held }) => held) };
}

interface Part {
  organization: string;
  query: OwnedQuery;
  /** The log position before which it was created. */
  before: number;
}

/** Threads and files of an owner or of an external user's scopes. Files saved by a run's steps are deleted with the run. */
function scopedRows(table: "threads" | "files", { organization, query, before }: Part): OwnedRows | undefined {
  const { owner, scopes } = query;
  const { column, value } = scopes
    ? { column: "scope", value: scopes.filter((scope) => runOfScope(scope) === null) }
    : ownerColumn(readOwner(owner));
  // agents have no files
  if (table === "files" && column === "agent_id") return undefined;
  const isOwner = column === "scope" ? "o.scope = any ($2::text[])" : `o.${column} = $2`;
  const from = `from read.${table} o where o.organization_id = $1 and ${isOwner} and o.position < $3`;
  return { from, values: [organization, value, before], covers: HOLD_CONDITIONS[table] };
}

/** Documents first uploaded by the owner, or those of an external user. */
function documentRows({ organization, query: { owner, scopes, documents }, before }: Part): OwnedRows {
  const isOwner = scopes ? "g.id = any ($2::uuid[])" : "g.principal = $2";
  const from = `from read.usage_holdings g join read.documents o on o.id = g.id
    where g.organization_id = $1 and ${isOwner} and g.position < $3`;
  const values = [organization, scopes ? (documents ?? []) : owner, before];
  return { from, values, covers: HOLD_CONDITIONS.documents };
}

function extractionRows({ organization, query: { owner, scopes }, before }: Part): OwnedRows | undefined {
  if (scopes) return undefined;
  const from = `from read.usage_holdings g join read.extractions o on o.id = g.id
    where g.organization_id = $1 and g.principal = $2 and g.position < $3`;
  return { from, values: [organization, owner, before], covers: "false" };
}

/** An owner's rows of a kind with a read model of its own; undefined if the owner cannot have any. Runs are found by their origin. */
export function ownedRows(kind: Exclude<ErasedKind, "runs">, part: Part): OwnedRows | undefined {
  if (!part.query.kinds.includes(kind)) return undefined;
  if (kind === "documents") return documentRows(part);
  return kind === "extractions" ? extractionRows(part) : scopedRows(kind, part);
}

/** A batch of an owner's things that were created before a position and that no hold covers. */
export async function listOwned(db: Db, organization: string, query: OwnedQuery, before: number): Promise<OwnedThings> {
  const list = async <Row extends object>(kind: Exclude<ErasedKind, "runs">, columns: string): Promise<Batch<Row>> => {
    const rows = ownedRows(kind, { organization, query, before });
    return rows ? listBatch<Row>(db, columns, rows) : NOTHING;
  };
  const runOwner = query.kinds.includes("runs") ? runOwnerOf(query.owner, query.scopes) : undefined;
  const [threads, files, documents, extractions, runs] = await Promise.all([
    list<OwnedThing>("threads", "o.id, o.scope"),
    list<OwnedThing>("files", "o.id, o.scope"),
    list<{ id: string }>("documents", "o.id"),
    list<{ id: string }>("extractions", "o.id"),
    runOwner ? listRunsToErase(db, { organization, owner: runOwner, before }) : { live: [], ended: [], held: false },
  ]);
  const free = ({ rows }: Batch<OwnedThing>): OwnedThing[] => rows.map(({ id, scope }) => ({ id, scope }));
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
