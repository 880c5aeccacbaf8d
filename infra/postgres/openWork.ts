import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { IS_GONE } from "./heartbeat.ts";

export const HEAD_COLUMNS = "stream, organization_id, version, position, state, state_version, status, due_at, worker";

/** How long due work is reserved for the process that the hash picks. */
const GRACE = "interval '1 second'";
const SCORE = (worker: string): string => `hashtextextended(s.stream, hashtextextended(${worker}, 0))`;
/** Order of work due in the same second: random, but fixed for each worker. Work without a due time is ordered by age. */
const PLACE = `case when s.due_at is null then s.position else ${SCORE("$1")} end`;
const COLUMNS = `s.stream, split_part(s.stream, '-', 1) as aggregate, s.organization_id,
  date_trunc('second', s.due_at) as second, ${PLACE} as place`;
/** Work that was due before, or has no due time, may be stuck, as while its organization is over a limit: it is behind other work. */
const IS_STUCK = "second is null or second < $2::timestamptz - interval '10 seconds'";
/** Organizations with such work take turns: for ten seconds others come first, or two hundred of them would hide all others. */
const ROTATION = `hashtextextended(organization_id::text,
  hashtextextended($1, floor(extract(epoch from $2::timestamptz) / 10)::bigint))`;
/**
 * The limit is per aggregate, and organizations take turns: a thousand lost documents of one organization must not delay a turn, or
 * another organization's document.
 */
const OPEN_WORK = `
  with living as materialized (select worker, role from ops.workers w where not ${IS_GONE}),
  sweepers as (select worker from living where role ~ '(^|\\+)(all|services)(\\+|$)'),
  found as (
    select ${COLUMNS} from log.streams s left join living l on l.worker = s.worker
    where s.status <> 'waiting' and (s.due_at is null or s.due_at >= $2)
      and (l.worker is null
           or (s.worker = $1 and not exists (select from unnest($4::text[]) busy where busy = s.stream)))
    union all
    select ${COLUMNS} from log.streams s
    where s.status is not null and s.due_at < $2
      and (s.due_at < $2 - ${GRACE}
           or not exists (select from sweepers o where o.worker <> $1 and ${SCORE("o.worker")} > ${SCORE("$1")}))
  ),
  turns as (
    select *, ${IS_STUCK} as is_stuck,
      row_number() over (partition by aggregate, organization_id order by second, place) as turn
    from found
  ),
  ranked as (
    select stream, row_number() over (
      partition by aggregate order by turn, is_stuck, case when is_stuck then ${ROTATION} end, second, place
    ) as nth
    from turns where turn <= $3
  )
  select ${HEAD_COLUMNS.replace(/\w+/g, "s.$&")} from log.streams s join ranked on ranked.stream = s.stream
  where ranked.nth <= $3
  order by s.due_at, s.position`;

const NEXT_DUE = "select min(due_at) as due_at from log.streams where status is not null and due_at >= $1";

export type HeadRow = Omit<StreamHead, "state" | "due_at"> & { state: string; due_at: Date | null };

export const headFrom = (row: HeadRow): StreamHead => ({
  ...row,
  state: JSON.parse(row.state),
  due_at: row.due_at?.toISOString() ?? null,
});

/** Finds work for the sweep (docs/adr/0049-the-sweep-wakes-when-work-is-due.md). */
export const findOpenWork = (db: Db): Pick<EventLog, "openWork" | "nextDue"> => ({
  async openWork({ worker, busy, now, limit }) {
    const rows = await db.query<HeadRow>(OPEN_WORK, [worker, now, limit, busy]);
    return rows.map(headFrom);
  },
  async nextDue(now) {
    const [row] = await db.query<{ due_at: Date | null }>(NEXT_DUE, [now]);
    return row?.due_at ?? undefined;
  },
});
