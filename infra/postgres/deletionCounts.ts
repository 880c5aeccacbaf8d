import { ERASED, NOTHING_ERASED, type ErasedCounts, type ErasedKind } from "#events/erasure.ts";
import type { Db } from "#projections/projection.ts";

/** Events of one statement: an organization may write millions while an erasure waits for a hold. */
const PART = 20_000;

const COUNT = `
  with part as materialized (
    select position, type, meta from log.events where organization_id = $1 and position > $2 order by position limit ${PART}
  ), found as (
    select type, count(*) as count from part where type = any ($3) and meta::json ->> 'request_id' = $4 group by type
  )
  select (select max(position) from part) as last, (select count(*) from part)::integer as events,
    coalesce((select json_object_agg(type, count) from found), '{}') as counts`;

/** How many deletions of an organization the log has, after a position, under a request id. */
export const createDeletionCounter =
  (db: Db) =>
  async (organization: string, request_id: string, after: number): Promise<ErasedCounts> => {
    const sums = { ...NOTHING_ERASED };
    for (let [position, events] = [after, PART]; events === PART; ) {
      const [row] = await db.query<{ last: string | null; events: number; counts: Record<string, number> }>(COUNT, [
        organization,
        position,
        Object.values(ERASED),
        request_id,
      ]);
      for (const [kind, type] of Object.entries(ERASED)) sums[kind as ErasedKind] += row!.counts[type] ?? 0;
      ({ events } = row!);
      position = Number(row!.last ?? position);
    }
    return sums;
  };
