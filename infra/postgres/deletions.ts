import { ERASURE_EVENTS, NOTHING_ERASED, type ErasedCounts, type ErasedKind } from "#events/erasure.ts";
import { parseStreamName } from "#events/ids.ts";
import type { Db } from "#projections/projection.ts";

/** Events per statement. An organization may append millions while an erasure waits for a hold. */
const PART = 20_000;

const READ = `
  with part as materialized (
    select position, type, stream, meta from log.events where organization_id = $1 and position > $2 order by position limit ${PART}
  ), found as materialized (
    select type, stream from part where type = any ($3) and meta::json ->> 'request_id' = $4
  )
  select (select max(position) from part) as last, (select count(*) from part)::integer as events,
    coalesce((select json_object_agg(type, count) from (select type, count(*) as count from found group by type) c), '{}') as counts,
    array(select stream from found where type = '${ERASURE_EVENTS.runs}') as runs`;

interface Row {
  last: string | null;
  events: number;
  counts: Record<string, number>;
  runs: string[];
}

/** Counts an organization's deletions after a position with a request id, and lists the ids of destroyed runs. */
export const createDeletionReader =
  (db: Db) =>
  async (
    organization: string,
    request_id: string,
    after: number,
  ): Promise<{ counts: ErasedCounts; runs: string[] }> => {
    const counts = { ...NOTHING_ERASED };
    const runs: string[] = [];
    for (let [position, events] = [after, PART]; events === PART; ) {
      const [row] = await db.query<Row>(READ, [organization, position, Object.values(ERASURE_EVENTS), request_id]);
      for (const [kind, type] of Object.entries(ERASURE_EVENTS)) counts[kind as ErasedKind] += row!.counts[type] ?? 0;
      for (const stream of row!.runs) runs.push(parseStreamName(stream).id);
      ({ events } = row!);
      position = Number(row!.last ?? position);
    }
    return { counts, runs };
  };
