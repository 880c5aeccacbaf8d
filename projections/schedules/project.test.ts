import { expect, test } from "vitest";
import {
  ScheduleChanged,
  ScheduleCreated,
  ScheduleDequeued,
  ScheduledRunRefused,
  ScheduledRunStarted,
  ScheduleFired,
  scheduledRunId,
  SchedulePaused,
  ScheduleResumed,
  ScheduleTimesMissed,
} from "#events/schedule.ts";
import { TriggerDeleted, TriggerDisabled } from "#events/trigger.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { schedules } from "./project.ts";

const trigger_id = "0198c0de-0000-7000-8000-00000000000a";
const workflow_id = "0198c0de-0000-7000-8000-00000000000b";
const due_at = "2026-01-01T01:00:00.000Z";
const later = "2026-01-01T02:00:00.000Z";
const key = { trigger_id };
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(schedules, `trigger-${trigger_id}`, ...events);
const settings = {
  rule: { cron: "0 * * * *", time_zone: "UTC" },
  jitter_seconds: 5,
  overlap: "skip" as const,
  missed: "one" as const,
};
const next = { due_at, fires_at: "2026-01-01T01:00:03.000Z" };
const patched = (row: object) => [{ table: "schedules", kind: "patch", key, row }];
const last = (last_outcome: string, more: object = {}) => ({
  last_due_at: new Date(due_at),
  last_at: RECORDED_AT,
  last_outcome,
  last_run_id: null,
  last_error: null,
  ...more,
});

test("the schedules projection shows the settings of a schedule and when it is due next", () => {
  const created = ScheduleCreated.of(
    { trigger_id, workflow_id, run_as: null, ...settings, next },
    { name: "hourly", args: "{}" },
  );
  const row = { organization_id: ORGANIZATION, settings: JSON.stringify(settings), paused: false };
  expect(from(created)).toEqual([{ table: "schedules", kind: "put", key, row: { ...row, next_at: new Date(due_at) } }]);
  const changed = ScheduleChanged.of({ trigger_id, ...settings, next: null, changes_args: false }, {});
  expect(from(changed)).toEqual(patched({ settings: JSON.stringify(settings), next_at: null }));
  expect(from(SchedulePaused.of({ trigger_id }))).toEqual(patched({ paused: true }));
  expect(from(ScheduleResumed.of({ trigger_id, next }))).toEqual(patched({ paused: false, next_at: new Date(due_at) }));
});

test("the schedules projection shows what became of the last due time", () => {
  const fired = (action: "start" | "queue" | "skip") =>
    ScheduleFired.of({
      trigger_id,
      due_at,
      action,
      cancels: null,
      next: { due_at: later, fires_at: later },
      epoch: 1,
      worker: "p",
    });
  const last_run_id = scheduledRunId(trigger_id, due_at);
  const next_at = new Date(later);
  expect(from(fired("start"))).toEqual(patched({ next_at, ...last("starting", { last_run_id }) }));
  expect(from(fired("queue"))).toEqual(patched({ next_at, ...last("queued") }));
  expect(from(fired("skip"))).toEqual(patched({ next_at, ...last("skipped") }));
  const missed = ScheduleTimesMissed.of({ trigger_id, first_due_at: due_at, next: null });
  expect(from(missed)).toEqual(patched({ next_at: null, ...last("missed") }));
  expect(from(ScheduleDequeued.of({ trigger_id, due_at }))).toEqual(patched(last("starting", { last_run_id })));
  const started = ScheduledRunStarted.of({ trigger_id, due_at, run_id: last_run_id });
  expect(from(started)).toEqual(patched(last("started", { last_run_id })));
  const refused = ScheduledRunRefused.of({ trigger_id, due_at, code: "invalid_args" }, { message: "No." });
  expect(from(refused)).toEqual(patched(last("refused", { last_error: '{"code":"invalid_args","message":"No."}' })));
  expect(from(erased(refused))).toEqual(
    patched(last("refused", { last_error: '{"code":"invalid_args","message":null}' })),
  );
});

test("a disabled schedule is not due again, and a deleted one is gone", () => {
  expect(from(TriggerDisabled.of({ trigger_id }))).toEqual(patched({ next_at: null }));
  expect(from(TriggerDeleted.of({ trigger_id }))).toEqual([{ table: "schedules", kind: "remove", key }]);
});
