import type { AuditLog } from "#events/auditLog.ts";
import type { Db } from "#projections/projection.ts";
import { addConditions, narrowToCommand } from "./commandSpan.ts";
import { PRINCIPAL_SQL } from "./decode.ts";

/** Maximum events that one histogram counts: the newest of the organization, stream, principal or command. */
const MAX_EVENTS = 50_000;
/** Maximum intervals of a histogram. */
const MAX_BARS = 60;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Lengths of an interval in seconds. The last one suffices for centuries. */
const WIDTHS = [1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY];

/**
 * `seen` reads a bounded part of one index, backwards: of the organization's positions, of the stream, or of the principal. The
 * interval is the shortest that gives few enough bars.
 */
const histogram = (narrowed: { stream: string; principal: string; command: string; types: string }) => `
  with seen as materialized (
    select position, recorded_at, type from log.events
    where organization_id = $1${narrowed.stream}${narrowed.principal}${narrowed.command} order by ${narrowed.stream ? "version" : "position"} desc limit ${MAX_EVENTS + 1}
  ), counted as materialized (
    select position, extract(epoch from recorded_at)::float8 as at from (select * from seen limit ${MAX_EVENTS}) newest where true${narrowed.types}
  ), bounds as (
    select min(at) as first, max(at) as final from counted
  ), width as (
    select coalesce(min(w), ${WIDTHS.at(-1)}) as seconds, (select count(*) > ${MAX_EVENTS} from seen) as more
    from bounds cross join unnest(array[${WIDTHS.join(", ")}]) w
    where coalesce(floor(final / w) - floor(first / w), 0) < ${MAX_BARS}
  )
  select seconds, more, bars.at, bars.count, bars.last from width
  left join lateral (
    select floor(at / seconds) * seconds as at, count(*)::int as count, max(position) as last from counted group by 1
  ) bars on true
  order by bars.at`;

interface Row {
  seconds: number;
  more: boolean;
  at: number | null;
  count: number;
  last: number;
}

/** Counts an organization's events over time, in the database. */
export const createHistogramReader =
  (db: Db): AuditLog["histogram"] =>
  async (organization, { stream, principal, command, types }) => {
    const values: unknown[] = [organization];
    const also = addConditions(values);
    const sql = histogram({
      stream: also("stream = ?", stream),
      principal: also(`${PRINCIPAL_SQL} = ?`, principal),
      command: await narrowToCommand(db, organization, command, also),
      types: also("type = any(?)", types),
    });
    const rows = await db.query<Row>(sql, values);
    const bars = rows.flatMap(({ at, count, last }) =>
      at === null ? [] : [{ at: new Date(at * 1_000), count, last: Number(last) }],
    );
    return { seconds: rows[0]!.seconds, isComplete: !rows[0]!.more, bars };
  };
