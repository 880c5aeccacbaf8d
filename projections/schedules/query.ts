import type { ScheduleSettings } from "#events/schedule.ts";
import { countRows } from "../countRows.ts";
import { decode, decodeOrNull, type Db } from "../projection.ts";
import type { RunStatus } from "../runs/query.ts";

export const SCHEDULE_OUTCOMES = ["starting", "started", "queued", "skipped", "missed", "refused"] as const;

/** The status of a schedule. */
export interface ScheduleRow {
  trigger_id: string;
  settings: ScheduleSettings;
  paused: boolean;
  /** The time by the rule, without jitter; null: no further time. */
  next_at: Date | null;
  /** The last due time that was handled. */
  last: {
    due_at: Date;
    at: Date;
    outcome: (typeof SCHEDULE_OUTCOMES)[number];
    run_id: string | null;
    /** Null: there was no run, or it is not readable yet or any more. */
    run_status: RunStatus | null;
    error: { code: string; message: string | null } | null;
  } | null;
}

interface StoredRow {
  trigger_id: string;
  settings: string;
  paused: boolean;
  next_at: Date | null;
  last_due_at: Date | null;
  last_at: Date | null;
  last_outcome: (typeof SCHEDULE_OUTCOMES)[number] | null;
  last_run_id: string | null;
  last_error: string | null;
  run_status: RunStatus | null;
}

const parseRow = (row: StoredRow): ScheduleRow => ({
  trigger_id: row.trigger_id,
  settings: decode(row.settings),
  paused: row.paused,
  next_at: row.next_at,
  last: row.last_due_at && {
    due_at: row.last_due_at,
    at: row.last_at!,
    outcome: row.last_outcome!,
    run_id: row.last_run_id,
    run_status: row.run_status,
    error: decodeOrNull(row.last_error),
  },
});

/** The schedules among some triggers, by the trigger's id. */
export async function findSchedules(db: Db, triggers: string[]): Promise<Map<string, ScheduleRow>> {
  const rows = await db.query<StoredRow>(
    `select s.trigger_id, s.settings, s.paused, s.next_at, s.last_due_at, s.last_at, s.last_outcome, s.last_run_id,
            s.last_error, r.status as run_status
     from read.schedules s left join read.runs r on r.id = s.last_run_id where s.trigger_id = any ($1)`,
    [triggers],
  );
  return new Map(rows.map((row) => [row.trigger_id, parseRow(row)]));
}

/** Counts an organization's schedules that have a due time ahead, or are paused. */
export const countSchedules = (db: Db, organization: string): Promise<number> =>
  countRows(db, "from read.schedules where organization_id = $1 and next_at is not null", [organization]);
