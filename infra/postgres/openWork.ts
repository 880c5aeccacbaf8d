import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";

export const HEAD_COLUMNS = "stream, organization_id, version, position, state, state_version, status, due_at, worker";

/** How long due work is left to the process whose turn it is. */
const GRACE = "interval '1 second'";
const SCORE = (worker: string): string => `hashtextextended(s.stream, hashtextextended(${worker}, 0))`;
/** Order of work that is due in the same second: random, but fixed for each worker. Work without a due time: the oldest first. */
const PLACE = `case when s.due_at is null then s.position else ${SCORE("$1")} end`;
/** The limit counts per aggregate, and organizations take turns: a thousand lost documents of one organization must not delay a turn, or another's document. */
const OPEN_WORK = `
  with sweepers as materialized (
    select worker from ops.workers
    where beat_at > now() - interval '10 seconds' and role ~ '(^|\\+)(all|services)(\\+|$)'
  )
  select ${HEAD_COLUMNS.replace(/\w+/g, "s.$&")} from log.streams s join (
    select stream, row_number() over (partition by aggregate order by turn, second, place) as nth from (
      select *, row_number() over (partition by aggregate, organization_id order by second, place) as turn from (
        select s.stream, split_part(s.stream, '-', 1) as aggregate, s.organization_id,
          date_trunc('second', s.due_at) as second, ${PLACE} as place
        from log.streams s left join ops.workers w on w.worker = s.worker
        where s.status <> 'waiting'
          and (s.worker is null or w.worker is null or w.beat_at < now() - interval '10 seconds'
               or (s.worker = $1 and not exists (select from unnest($4::text[]) busy where busy = s.stream)))
        union
        select s.stream, split_part(s.stream, '-', 1), s.organization_id, date_trunc('second', s.due_at), ${PLACE}
        from log.streams s where s.status is not null and s.due_at < $2
          and (s.due_at < $2 - ${GRACE}
               or not exists (select from sweepers o where o.worker <> $1 and ${SCORE("o.worker")} > ${SCORE("$1")}))
      ) found
    ) turns
  ) ranked on ranked.stream = s.stream
  where ranked.nth <= $3
  order by s.due_at, s.position`;

const NEXT_DUE = "select min(due_at) as due_at from log.streams where status is not null and due_at >= $1";

export type HeadRow = Omit<StreamHead, "state" | "due_at"> & { state: string; due_at: Date | null };

export const headFrom = (row: HeadRow): StreamHead => ({
  ...row,
  state: JSON.parse(row.state),
  due_at: row.due_at?.toISOString() ?? null,
});

/** The work that the sweep looks for (docs/adr/0049-the-sweep-wakes-when-work-is-due.md). */
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
