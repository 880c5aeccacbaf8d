import { isDeepStrictEqual } from "node:util";
import type { CommandFrom } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import {
  ScheduleChanged,
  ScheduleCreated,
  ScheduleDequeued,
  ScheduledRunRefused,
  ScheduledRunStarted,
  ScheduleFired,
  SchedulePaused,
  ScheduleResumed,
  ScheduleTaken,
  ScheduleTimesMissed,
  type ChangeSchedule,
  type CreateSchedule,
  type DueTime,
  type FireSchedule,
  type NewRule,
  type RecordScheduledRun,
  type ScheduleCommand,
  type ScheduleEvent,
  type ScheduleRule,
  type ScheduleSettings,
} from "#events/schedule.ts";
import { jitter, timesAfter, timesUpTo } from "#events/scheduleTimes.ts";
import { hasOpenStart, runIdAt, type ScheduleState } from "./scheduleState.ts";

/** A due time counts as missed if no process has handled it by then. Restarts and takeovers take less. */
const MISSED_AFTER_MS = 60_000;
/** With `missed: "all"`: maximum due times that start runs after an outage, the newest. A minutely schedule has 1,440 a day. */
export const MAX_MISSED = 100;
/** With `overlap: "queue"`: maximum waiting due times; others are skipped. Missed ones count, but have MAX_MISSED as their limit. */
export const MAX_QUEUED = 10;

type Timing = Pick<ScheduleSettings, "rule" | "jitter_seconds"> & { trigger_id: string };

const dueTime = ({ trigger_id, jitter_seconds }: Timing, due: Date): DueTime => ({
  due_at: due.toISOString(),
  fires_at: new Date(due.getTime() + jitter(trigger_id, due, jitter_seconds)).toISOString(),
});

function nextAfter(timing: Timing, after: string | number): DueTime | null {
  const [due] = timesAfter(timing.rule, new Date(after), 1);
  return due ? dueTime(timing, due) : null;
}

/** Intervals count from the time of the command. */
export const startRule = (rule: NewRule, at: string): ScheduleRule => ("every" in rule ? { ...rule, from: at } : rule);

function requireNext(timing: Timing, at: string): DueTime {
  const next = nextAfter(timing, at);
  if (next) return next;
  throw new Rejection("invalid_schedule", "schedule: has no due time in the future.", { param: "schedule" });
}

/** The next due time after a change. A new rule counts from now. New jitter only moves the time at which the next due time fires. */
function nextOfChange(timing: Timing, state: ScheduleState, at: string): DueTime | null {
  const { rule, jitter_seconds, next } = state;
  if (!isDeepStrictEqual(timing.rule, rule)) return requireNext(timing, at);
  if (!next || timing.jitter_seconds === jitter_seconds) return next;
  const { due_at, fires_at } = dueTime(timing, new Date(next.due_at));
  // with less jitter it fires at once: the change must not make it late
  const earliest = Math.min(Date.parse(next.fires_at), Date.parse(at));
  return { due_at, fires_at: new Date(Math.max(Date.parse(fires_at), earliest)).toISOString() };
}

export function createSchedule({ data, at }: CommandFrom<typeof CreateSchedule>): ScheduleEvent[] {
  const { name, args, ...given } = data;
  const settings = { ...given, rule: startRule(given.rule, at) };
  return [ScheduleCreated.of({ ...settings, next: requireNext(settings, at) }, { name, args })];
}

/** An interval that stays the same continues: a program that repeats its settings must not postpone its runs for ever. */
const changeRule = (rule: NewRule, before: ScheduleRule, at: string): ScheduleRule =>
  "every" in rule && "every" in before && rule.every === before.every ? before : startRule(rule, at);

function changeSchedule({ data, at }: CommandFrom<typeof ChangeSchedule>, state: ScheduleState): ScheduleEvent[] {
  const { trigger_id, name, args, paused = state.paused } = data;
  const before = { rule: state.rule, jitter_seconds: state.jitter_seconds };
  const rule = data.rule ? changeRule(data.rule, state.rule, at) : state.rule;
  const jitter_seconds = data.jitter_seconds ?? state.jitter_seconds;
  const { overlap = state.overlap, missed = state.missed } = data;
  const timing = { trigger_id, rule, jitter_seconds };
  const hasNewTimes = !isDeepStrictEqual({ rule, jitter_seconds }, before);
  const next = nextOfChange(timing, state, at);
  const changesRules = hasNewTimes || overlap !== state.overlap || missed !== state.missed;
  const personal = { ...(name !== undefined && { name }), ...(args !== undefined && { args }) };
  const events: ScheduleEvent[] = [];
  if (changesRules || Object.keys(personal).length > 0) {
    const changes_args = args !== undefined;
    events.push(ScheduleChanged.of({ ...timing, overlap, missed, next, changes_args }, personal));
  }
  if (paused && !state.paused) events.push(SchedulePaused.of({ trigger_id }));
  // what was due during the pause does not count as missed
  if (!paused && state.paused) events.push(ScheduleResumed.of({ trigger_id, next: nextAfter(timing, at) }));
  return events;
}

const isDue = ({ fires_at }: DueTime, now: number): boolean => Date.parse(fires_at) <= now;
const isLate = ({ fires_at }: DueTime, now: number): boolean => Date.parse(fires_at) < now - MISSED_AFTER_MS;

/** The first due time after `late` that is not late itself. It may be due already and fire later by its jitter. */
function firstInTime(state: ScheduleState, late: DueTime, now: number): DueTime | null {
  const horizon = now - MISSED_AFTER_MS;
  const after = Math.max(Date.parse(late.due_at), horizon - state.jitter_seconds * 1_000 - 1);
  // jitter is less than the interval, so only the first of them can be late
  const times = timesAfter(state.rule, new Date(after), 2).map((due) => dueTime(state, due));
  return times.find((time) => !isLate(time, now)) ?? nextAfter(state, horizon);
}

/** The due time to continue with if the next one is so late that it counts as missed. */
function afterMissed(state: ScheduleState, next: DueTime, { now, limited }: { now: number; limited: boolean }) {
  if (!isLate(next, now)) return next;
  if (state.missed === "none" || limited) return firstInTime(state, next, now);
  const count = state.missed === "one" ? 1 : MAX_MISSED;
  // the newest of them may fire later because of its jitter
  const newest = timesUpTo(state.rule, new Date(now), count + 1).map((due) => dueTime(state, due));
  const oldest = newest
    .filter((time) => isDue(time, now))
    .slice(0, count)
    .at(-1);
  return oldest && Date.parse(oldest.due_at) > Date.parse(next.due_at) ? oldest : next;
}

/** `catchesUp`: the due time was missed, so it waits for earlier runs whatever `overlap` says. */
function chooseAction(
  { overlap, queue }: ScheduleState,
  { overlaps, catchesUp }: { overlaps: boolean; catchesUp: boolean },
): "start" | "queue" | "skip" {
  const waits = overlaps || queue.length > 0;
  if (waits && (catchesUp || overlap === "queue"))
    return queue.length < (catchesUp ? MAX_MISSED : MAX_QUEUED) ? "queue" : "skip";
  return waits && overlap === "skip" ? "skip" : "start";
}

function fireSchedule(command: CommandFrom<typeof FireSchedule>, state: ScheduleState): ScheduleEvent[] {
  const { trigger_id, due_at, overlaps, seen = state.version, limited = false } = command.data;
  if (seen !== state.version) return [];
  const now = Date.parse(command.at);
  if (state.paused || state.starting || state.next?.due_at !== due_at || !isDue(state.next, now)) return [];
  const due = afterMissed(state, state.next, { now, limited });
  const missed =
    due?.due_at === due_at ? [] : [ScheduleTimesMissed.of({ trigger_id, first_due_at: due_at, next: due })];
  if (!due || !isDue(due, now)) return missed;
  // The process that holds this schedule's open starts keeps them. If there is none, this one takes them.
  const lease = hasOpenStart(state)
    ? { epoch: state.epoch, worker: state.worker }
    : { epoch: state.epoch + 1, worker: command.worker ?? null };
  const action = chooseAction(state, { overlaps, catchesUp: state.missed === "all" && isLate(due, now) });
  const cancels = action === "start" && overlaps && state.overlap === "cancel" ? state.run_id : null;
  const next = nextAfter(state, due.due_at);
  return [...missed, ScheduleFired.of({ trigger_id, due_at: due.due_at, action, cancels, next, ...lease })];
}

function recordRun({ data }: CommandFrom<typeof RecordScheduledRun>, state: ScheduleState): ScheduleEvent[] {
  const { trigger_id, due_at, refusal } = data;
  if (state.starting?.due_at !== due_at) return [];
  if (refusal)
    return [ScheduledRunRefused.of({ trigger_id, due_at, code: refusal.code }, { message: refusal.message })];
  return [ScheduledRunStarted.of({ trigger_id, due_at, run_id: runIdAt(state, due_at) })];
}

/** Decides a command to an existing schedule. */
export function decideSchedule(
  command: Exclude<ScheduleCommand, CommandFrom<typeof CreateSchedule>>,
  state: ScheduleState,
): ScheduleEvent[] {
  switch (command.type) {
    case "ChangeSchedule":
      return changeSchedule(command, state);
    case "FireSchedule":
      return fireSchedule(command, state);
    case "StartQueuedRun": {
      const { trigger_id, epoch, due_at } = command.data;
      const isFirst = state.epoch === epoch && !state.starting && state.queue[0] === due_at;
      return isFirst ? [ScheduleDequeued.of({ trigger_id, due_at })] : [];
    }
    case "TakeSchedule": {
      const { trigger_id, epoch, worker } = command.data;
      if (!hasOpenStart(state) || state.epoch !== epoch) return [];
      return [ScheduleTaken.of({ trigger_id, epoch: epoch + 1, worker })];
    }
    case "RecordScheduledRun":
      return recordRun(command, state);
  }
}
