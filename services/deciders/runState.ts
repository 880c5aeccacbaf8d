import type { Head } from "#events/decider.ts";
import type { RunEvent } from "#events/run.ts";

/** A step that has not come to its end. */
export interface OpenStep {
  name: string;
  /** `waiting`: for its next attempt, at `retry_at`. */
  status: "queued" | "running" | "waiting";
  /** Attempts that have begun. */
  attempt: number;
  /** Those of them whose worker was lost. */
  lost: number;
  retry_at: string | null;
  on_error: "fail" | "return";
}

interface Standing {
  /** Events of its stream: a tick that saw another number is void. */
  version: number;
  epoch: number;
  worker: string | null;
  workflow_id: string;
  steps: Record<string, OpenStep>;
  slot: string | null;
}

export interface LiveRun extends Standing {
  status: "pending" | "running";
  project_id: string | null;
  /** Something has happened that `run()` has not seen. */
  woken: boolean;
  expires_at: string;
  retention_days: number;
  max_steps: number;
  /** Steps that were ever scheduled. */
  scheduled: number;
  approvals: Record<string, { key: string; expires_at: string; on_expiry: "return" | "reject" | "fail" }>;
  /** When each fires, by its key. */
  timers: Record<string, string>;
  /** Workers that have lost it one after another, with nothing done in between. */
  lost: number;
}

export interface EndedRun extends Standing {
  status: "completed" | "failed" | "cancelled";
  forget_at: string;
}

export type RunState = { status: "absent" } | LiveRun | EndedRun | { status: "forgotten" };

export const isLive = (state: RunState): state is LiveRun => state.status === "pending" || state.status === "running";
export const isEnded = (state: RunState): state is EndedRun =>
  state.status === "completed" || state.status === "failed" || state.status === "cancelled";

/**
 * Whether an attempt at a step is the one that runs now, by the coordinator of that epoch. The first epoch is named by its
 * worker too: whoever takes a run to the log begins with it, and the same command may have reached two.
 */
export const isRunning = (
  state: RunState,
  key: string,
  attempt: number,
  { epoch, worker }: { epoch: number; worker: string },
): boolean => {
  if (!isLive(state) && !isEnded(state)) return false;
  const step = state.steps[key];
  const isHolder = state.epoch === epoch && state.worker === worker;
  return isHolder && step?.status === "running" && step.attempt === attempt;
};

/** Something can be done for it at once, waiting left out. */
export const hasWork = ({ woken, steps }: LiveRun): boolean =>
  woken || Object.values(steps).some(({ status }) => status !== "waiting");

/** When something will be due that waits for its time. */
export function nextDue({ expires_at, timers, approvals, steps }: LiveRun): string {
  const times = [
    expires_at,
    ...Object.values(timers),
    ...Object.values(approvals).map((approval) => approval.expires_at),
    ...Object.values(steps).flatMap(({ retry_at }) => retry_at ?? []),
  ];
  return times.reduce((least, time) => (Date.parse(time) < Date.parse(least) ? time : least));
}

const without = <T>(record: Record<string, T>, key: string): Record<string, T> => {
  const { [key]: _, ...rest } = record;
  return rest;
};

function withStep<S extends Standing>(state: S, key: string, change: Partial<OpenStep>): S {
  const step = state.steps[key];
  return step ? { ...state, steps: { ...state.steps, [key]: { ...step, ...change } } } : state;
}

function created({ data }: Extract<RunEvent, { type: "RunCreated" }>): LiveRun {
  return {
    status: "pending",
    version: 1,
    epoch: 1,
    worker: data.worker,
    workflow_id: data.workflow_id,
    project_id: data.project_id,
    woken: true,
    expires_at: data.expires_at,
    retention_days: data.retention_days,
    max_steps: data.limits.max_steps,
    scheduled: 0,
    steps: {},
    approvals: {},
    timers: {},
    lost: 0,
    slot: data.slot,
  };
}

/** What runs on finishes on its own; the rest is left. */
function ended(state: LiveRun, status: EndedRun["status"], forget_at: string): EndedRun {
  const { version, epoch, worker, workflow_id, slot, steps } = state;
  const running = Object.fromEntries(Object.entries(steps).filter(([, step]) => step.status === "running"));
  return { status, version, epoch, worker, workflow_id, slot, steps: running, forget_at };
}

function evolveLive(state: LiveRun, event: RunEvent): RunState {
  switch (event.type) {
    case "RunStarted":
      return { ...state, status: "running", woken: false, lost: 0 };
    case "RunTaken": {
      const { epoch, worker, reason } = event.data;
      return { ...state, epoch, worker, woken: true, lost: reason === "lost" ? state.lost + 1 : state.lost };
    }
    case "StepsScheduled": {
      const open = { status: "queued" as const, attempt: 0, lost: 0, retry_at: null, on_error: event.data.on_error };
      const added = event.data.steps.map(({ key, name }) => [key, { ...open, name }]);
      const scheduled = state.scheduled + added.length;
      return { ...state, woken: false, lost: 0, scheduled, steps: { ...state.steps, ...Object.fromEntries(added) } };
    }
    case "StepStarted":
      return withStep(state, event.data.key, { status: "running", attempt: event.data.attempt, retry_at: null });
    case "StepCompleted":
    case "StepFailed":
      return { ...state, woken: true, lost: 0, steps: without(state.steps, event.data.key) };
    case "StepAttemptFailed":
      return withStep(state, event.data.key, { status: "waiting", retry_at: event.data.retry_at });
    case "StepAttemptLost": {
      const lost = (state.steps[event.data.key]?.lost ?? 0) + 1;
      return withStep(state, event.data.key, { status: "queued", lost });
    }
    case "TimerStarted":
      return { ...state, woken: false, timers: { ...state.timers, [event.data.key]: event.data.fires_at } };
    case "TimerFired":
      return { ...state, woken: true, timers: without(state.timers, event.data.key) };
    case "ApprovalRequested": {
      const { approval_id, key, expires_at, on_expiry } = event.data;
      return {
        ...state,
        woken: false,
        approvals: { ...state.approvals, [approval_id]: { key, expires_at, on_expiry } },
      };
    }
    case "ApprovalDecided": {
      const { approval_id, epoch, worker } = event.data;
      return { ...state, epoch, worker, woken: true, approvals: without(state.approvals, approval_id) };
    }
    case "ApprovalExpired":
      return { ...state, woken: true, approvals: without(state.approvals, event.data.approval_id) };
    case "ApprovalCancelled":
      return { ...state, approvals: without(state.approvals, event.data.approval_id) };
    case "RunParked":
      return { ...state, woken: false, lost: 0 };
    case "RunCompleted":
      return ended(state, "completed", event.data.forget_at);
    case "RunFailed":
      return ended(state, "failed", event.data.forget_at);
    case "RunCancelled":
      return ended(state, "cancelled", event.data.forget_at);
    default:
      return state;
  }
}

/** Steps of a run that is over may still come to their end. */
function evolveEnded(state: EndedRun, event: RunEvent): EndedRun {
  switch (event.type) {
    case "StepCompleted":
    case "StepFailed":
    case "StepAttemptLost":
      return { ...state, steps: without(state.steps, event.data.key) };
    default:
      return state;
  }
}

export function evolve(state: RunState, event: RunEvent): RunState {
  if (event.type === "RunCreated") return created(event);
  if (event.type === "RunForgotten") return { status: "forgotten" };
  if (isLive(state)) return evolveLive({ ...state, version: state.version + 1 }, event);
  return isEnded(state) ? evolveEnded({ ...state, version: state.version + 1 }, event) : state;
}

/** A run that only waits costs its row and nothing more. */
export function head(state: RunState): Head {
  if (isLive(state)) {
    const due_at = nextDue(state);
    return hasWork(state)
      ? { status: "running", due_at, worker: state.worker }
      : { status: "waiting", due_at, worker: null };
  }
  if (!isEnded(state)) return { status: null, due_at: null, worker: null };
  const rest = Object.keys(state.steps).length > 0;
  return { status: rest ? "ending" : "waiting", due_at: state.forget_at, worker: rest ? state.worker : null };
}
