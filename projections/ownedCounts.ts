import { ERASED_KINDS, type ErasedKind } from "#events/erasure.ts";
import type { OwnedQuery } from "#events/ownedThings.ts";
import { HOLD_CONDITIONS } from "./holds/query.ts";
import { ownedRows, type OwnedRows } from "./owned.ts";
import { decode, type Db } from "./projection.ts";
import { ownedRunsTable, runOwnerOf } from "./runs/ownedRuns.ts";
import type { HeldCount, ThingCount } from "./thingCounts.ts";

/* Counts what an erasure would delete now, and what holds would keep. */

export type OwnedCounts = Record<ErasedKind, ThingCount> & { held: HeldCount<ErasedKind>[] };

/** SQL for rows `o`. `with`: the common table expressions that it uses. */
interface CountedRows extends OwnedRows {
  with: string;
}
/** Counts of one hold, or of things without a hold. */
interface CountRow extends Omit<HeldCount<ErasedKind>, "kind" | "hold_id"> {
  hold_id: string | null;
  oldest: Date | null;
}
const NONE: ThingCount = { count: 0, oldest: null };

async function countKind(db: Db, kind: ErasedKind, { with: tables, from, values, covers }: CountedRows) {
  const held = `exists (select from holding h where ${covers})`;
  const rows = await db.query<CountRow>(
    `with recursive ${tables} holding as (select * from read.holds where organization_id = $1 and released_at is null),
       rows as (select o.* ${from})
     select null as hold_id, '' as subject, '' as name, count(*)::integer as count, min(o.created_at) as oldest
       from rows o where not ${held}
     union all
     select h.id, h.subject, h.name, found.count, null from holding h
       cross join lateral (select count(*)::integer as count from rows o where ${covers}) found where found.count > 0`,
    values,
  );
  const free = rows.find(({ hold_id }) => hold_id === null)!;
  const kept = rows.flatMap(({ hold_id, subject, name, count }) =>
    hold_id === null ? [] : [{ hold_id, subject, name: decode<string>(name), kind, count }],
  );
  return { free: { count: free.count, oldest: free.oldest }, kept };
}

/** Threads and files of runs' steps are deleted with the runs, and not counted. */
function rowsOf(kind: ErasedKind, organization: string, query: OwnedQuery, before: number): CountedRows | undefined {
  if (kind !== "runs") {
    const rows = ownedRows(kind, { organization, query, before });
    return rows && { with: "", ...rows };
  }
  const owner = query.kinds.includes(kind) ? runOwnerOf(query.owner, query.scopes) : undefined;
  if (!owner) return undefined;
  const { tables, values } = ownedRunsTable({ organization, owner, before });
  return { with: `${tables},`, from: "from mine o where true", values, covers: HOLD_CONDITIONS.runs };
}

/** Counts an owner's things that were created before a position, by kind: those to be deleted, and those that holds keep. */
export async function countOwned(
  db: Db,
  organization: string,
  query: OwnedQuery,
  before: number,
): Promise<OwnedCounts> {
  const counted = await Promise.all(
    ERASED_KINDS.map(async (kind) => {
      const rows = rowsOf(kind, organization, query, before);
      return { kind, ...(rows ? await countKind(db, kind, rows) : { free: NONE, kept: [] }) };
    }),
  );
  const counts = Object.fromEntries(counted.map(({ kind, free }) => [kind, free])) as Record<ErasedKind, ThingCount>;
  return { ...counts, held: counted.flatMap(({ kept }) => kept) };
}
