import type { WorkStatus } from "#events/decider.ts";
import {
  SCHEDULE_SET_BY,
  scheduledRunId,
  type DueTime,
  type ScheduleEvent,
  type ScheduleSettings,
} from "#events/schedule.ts";
import type { RunAs } from "#events/workflow.ts";

/** A schedule as its trigger's state holds it. */
export interface ScheduleState extends ScheduleSettings {
  trigger_id: string;
  workflow_id: string;
  run_as: RunAs | null;
  /** Number of events in the stream. */
  version: number;
  /** Version of the event that holds the arguments of its runs. */
  args_version: number;
  /**
   * Version of the newest event by a person who answers for the schedule. Valid only while `seen` equals the state's version:
   * processes of earlier releases update neither.
   */
  set?: { version: number; seen: number } | undefined;
  paused: boolean;
  /** Null: no further due time. */
  next: DueTime | null;
  /** The due time whose run is decided but not confirmed as started. */
  starting: { due_at: string; cancels: string | null } | null;
  /** Due times that wait for the run of an earlier one to end, oldest first. */
  queue: string[];
  /** Why the last due time started no run: `skipped`, or the code of the refusal. Valid only as `set` is. */
  unstarted?: { why: string; seen: number } | undefined;
  /** The last run it started, which may have ended. */
  run_id: string | null;
  epoch: number;
  worker: string | null;
}

/** Whether a run must be started, now or after another one ends. */
export const hasOpenStart = ({ starting, queue }: Pick<ScheduleState, "starting" | "queue">): boolean =>
  starting !== null || queue.length > 0;

/** Why the last due time started no run; undefined if it did, or if anything has happened since. */
export const whyUnstarted = ({ unstarted, version }: Pick<ScheduleState, "unstarted" | "version">) =>
  unstarted?.seen === version ? unstarted.why : undefined;

export function scheduleWork(state: ScheduleState): WorkStatus {
  const { paused, next, starting, worker } = state;
  if (starting) return { status: "starting", due_at: null, worker };
  const due_at = paused ? null : (next?.fires_at ?? null);
  if (hasOpenStart(state)) return { status: "queued", due_at, worker };
  return { status: due_at === null ? null : "waiting", due_at, worker: null };
}

type After<Type extends ScheduleEvent["type"]> = Extract<ScheduleEvent, { type: Type }>["data"];

function createSchedule({ next, ...settings }: After<"ScheduleCreated">): ScheduleState {
  return {
    ...settings,
    version: 1,
    args_version: 1,
    set: { version: 1, seen: 1 },
    paused: false,
    next,
    starting: null,
    queue: [],
    run_id: null,
    epoch: 0,
    worker: null,
  };
}

function applyFired(state: ScheduleState, data: After<"ScheduleFired">): Partial<ScheduleState> {
  const { due_at, action, cancels, next, epoch, worker } = data;
  const fired = { next, epoch, worker };
  if (action === "start") return { ...fired, starting: { due_at, cancels } };
  if (action === "skip") return { ...fired, unstarted: { why: "skipped", seen: state.version + 1 } };
  return { ...fired, queue: [...state.queue, due_at] };
}

function applyToSchedule(state: ScheduleState, { type, data }: ScheduleEvent): Partial<ScheduleState> {
  switch (type) {
    case "ScheduleCreated":
      return {};
    case "ScheduleChanged": {
      const { rule, jitter_seconds, overlap, missed, next, changes_args } = data;
      const changed = { rule, jitter_seconds, overlap, missed, next };
      return changes_args ? { ...changed, args_version: state.version + 1 } : changed;
    }
    case "SchedulePaused":
      return { paused: true, queue: [] };
    case "ScheduleResumed":
      return { paused: false, next: data.next };
    case "ScheduleFired":
      return applyFired(state, data);
    case "ScheduleTimesMissed":
      return { next: data.next };
    case "ScheduleDequeued":
      return { starting: { due_at: data.due_at, cancels: null }, queue: state.queue.slice(1) };
    case "ScheduleTaken":
      return { epoch: data.epoch, worker: data.worker };
    case "ScheduledRunStarted":
      return { starting: null, run_id: data.run_id };
    case "ScheduledRunRefused":
      return { starting: null, unstarted: { why: data.code, seen: state.version + 1 } };
  }
}

function applySet({ version, set }: ScheduleState, { type }: ScheduleEvent): ScheduleState["set"] {
  const seen = version + 1;
  if ((SCHEDULE_SET_BY as readonly string[]).includes(type)) return { version: seen, seen };
  return set?.seen === version ? { ...set, seen } : set;
}

/** Undefined before the schedule is created. */
export function evolveSchedule(state: ScheduleState | undefined, event: ScheduleEvent): ScheduleState | undefined {
  if (event.type === "ScheduleCreated") return createSchedule(event.data);
  const changed = state && { ...state, ...applyToSchedule(state, event), version: state.version + 1 };
  return changed && { ...changed, set: applySet(state, event) };
}

/** The id of the run that this schedule starts at a due time. */
export const runIdAt = ({ trigger_id }: Pick<ScheduleState, "trigger_id">, due_at: string): string =>
  scheduledRunId(trigger_id, due_at);
