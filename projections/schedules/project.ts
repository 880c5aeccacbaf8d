import type { RecordedEvent } from "#events/envelope.ts";
import { scheduledRunId, type DueTime, type ScheduleEvent, type ScheduleSettings } from "#events/schedule.ts";
import type { TriggerEvent } from "#events/trigger.ts";
import { defineProjection, encode, patchRow, putRow, removeRow, type Change, type Row } from "../projection.ts";

type EndEvent = Extract<TriggerEvent, { type: "TriggerDisabled" | "TriggerDeleted" }>;

const patch = (trigger_id: string, row: Row): Change[] => [patchRow("schedules", { trigger_id }, row)];
const nextAt = (next: DueTime | null) => ({ next_at: next && new Date(next.due_at) });
const encodeSettings = ({ rule, jitter_seconds, overlap, missed }: ScheduleSettings) => ({
  settings: encode({ rule, jitter_seconds, overlap, missed } satisfies ScheduleSettings),
});

/** The outcome of a due time. */
const last = (
  due_at: string,
  { recorded_at }: Pick<RecordedEvent, "recorded_at">,
  outcome: string,
  more: { run_id?: string; error?: { code: string; message: string | null } } = {},
): Row => ({
  last_due_at: new Date(due_at),
  last_at: recorded_at,
  last_outcome: outcome,
  last_run_id: more.run_id ?? null,
  last_error: encode(more.error),
});
const OUTCOMES = { start: "starting", queue: "queued", skip: "skipped" } as const;

export const schedules = defineProjection<ScheduleEvent | EndEvent>({
  name: "schedules",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ScheduleCreated: ({ organization_id, data }) => [
      putRow(
        "schedules",
        { trigger_id: data.trigger_id },
        { organization_id, ...encodeSettings(data), paused: false, ...nextAt(data.next) },
      ),
    ],
    ScheduleChanged: ({ data }) => patch(data.trigger_id, { ...encodeSettings(data), ...nextAt(data.next) }),
    SchedulePaused: ({ data }) => patch(data.trigger_id, { paused: true }),
    ScheduleResumed: ({ data }) => patch(data.trigger_id, { paused: false, ...nextAt(data.next) }),
    ScheduleFired: (event) => {
      const { trigger_id, due_at, action, next } = event.data;
      const run_id = action === "start" ? { run_id: scheduledRunId(trigger_id, due_at) } : {};
      return patch(trigger_id, { ...nextAt(next), ...last(due_at, event, OUTCOMES[action], run_id) });
    },
    ScheduleTimesMissed: (event) => {
      const { trigger_id, first_due_at, next } = event.data;
      return patch(trigger_id, { ...nextAt(next), ...last(first_due_at, event, "missed") });
    },
    ScheduleDequeued: (event) => {
      const { trigger_id, due_at } = event.data;
      return patch(trigger_id, last(due_at, event, "starting", { run_id: scheduledRunId(trigger_id, due_at) }));
    },
    ScheduleTaken: () => [],
    ScheduledRunStarted: (event) => {
      const { trigger_id, due_at, run_id } = event.data;
      return patch(trigger_id, last(due_at, event, "started", { run_id }));
    },
    ScheduledRunRefused: (event) => {
      const { trigger_id, due_at, code } = event.data;
      const error = { code, message: event.personal?.message ?? null };
      return patch(trigger_id, last(due_at, event, "refused", { error }));
    },
    TriggerDisabled: ({ data }) => patch(data.trigger_id, { next_at: null }),
    TriggerDeleted: ({ data }) => [removeRow("schedules", { trigger_id: data.trigger_id })],
  },
});
