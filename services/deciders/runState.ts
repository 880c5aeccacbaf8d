import type { RunEvent } from "#events/run.ts";
import { changeApproval, requestApproval, type OpenApproval } from "./openApprovals.ts";
import { createFold, put, without } from "./records.ts";
import {
  END_STATUS,
  evolveLinks,
  inheritChild,
  settlementForEvent,
  type LiveLinks,
  type RunEnd,
  type Settlement,
} from "./runLinkState.ts";

/** A step that has not ended. */
export interface OpenStep {
  key: string;
  name: string;
  /** `waiting`: the next attempt starts at `retry_at`. */
  status: "queued" | "running" | "waiting";
  /** Attempts started so far. */
  attempt: number;
  /** Attempts whose worker was lost. */
  lost: number;
  retry_at: string | null;
  on_error: "fail" | "return";
}

interface RunBase {
  /** Number of events in the stream. A tick computed at another version is void. */
  version: number;
  epoch: number;
  worker: string | null;
  workflow_id: string;
  project_id: string | null;
  /** In the order of scheduling. An array, because every event copies it: copying an object with a thousand keys takes a millisecond. */
  steps: OpenStep[];
  slot: string | null;
  /** Absent if the workflow has no start rate. */
  start_place?: string;
  /** Ids of files that people handed to the run; absent if there are none. */
  files?: string[];
}

export interface LiveRun extends RunBase, LiveLinks {
  status: "pending" | "running";
  /** Whether something has happened that `run()` has not seen. */
  woken: boolean;
  expires_at: string;
  retention_days: number;
  max_steps: number;
  approvals: Record<string, OpenApproval>;
  /** The time at which each timer fires, by call key. */
  timers: Record<string, string>;
  /** Consecutive workers lost without progress. */
  lost: number;
  /** The first run of its chain, if it continues another run. */
  first_run_id: string | null;
}

export interface EndedRun extends RunBase {
  /** `continued`: another run continues it. */
  status: "completed" | "failed" | "cancelled" | "continued";
  forget_at: string;
  /** The first run of its chain; null if it is not part of a chain. */
  first_run_id: string | null;
  /** What must be settled after its end; null when done. */
  settling: Settlement | null;
}

export type RunState = { status: "absent" } | LiveRun | EndedRun | { status: "forgotten" };

export const isLive = (state: RunState): state is LiveRun => state.status === "pending" || state.status === "running";
export const isEnded = (state: RunState): state is EndedRun => Object.values<string>(END_STATUS).includes(state.status);
export const findStep = ({ steps }: Pick<RunBase, "steps">, key: string): OpenStep | undefined =>
  steps.find((step) => step.key === key);

/**
 * Whether an attempt at a step is the running one and held by the coordinator of that epoch. Compares the worker as well: workers
 * start a run before its command is committed, so a redelivered command may have started it on two.
 */
export const isRunning = (
  state: RunState,
  key: string,
  attempt: number,
  { epoch, worker }: { epoch: number; worker: string },
): boolean => {
  if (!isLive(state) && !isEnded(state)) return false;
  const step = findStep(state, key);
  const isHolder = state.epoch === epoch && state.worker === worker;
  return isHolder && step?.status === "running" && step.attempt === attempt;
};

/** The state change of an event that hands files to the run. */
const withFiles = ({ files = [] }: Pick<RunBase, "files">, { data }: { data: { files?: string[] | undefined } }) =>
  data.files && { files: [...new Set([...files, ...data.files])] };

/* Thousands of steps may be open, and each event changes one. The others are copied as a block. */

function withoutStep(steps: OpenStep[], key: string): OpenStep[] {
  const at = steps.findIndex((step) => step.key === key);
  return at === -1 ? steps : steps.toSpliced(at, 1);
}

function withStep<S extends RunBase>(state: S, key: string, change: Partial<OpenStep>): S {
  const { steps } = state;
  const at = steps.findIndex((step) => step.key === key);
  return at === -1 ? state : { ...state, steps: steps.with(at, { ...steps[at]!, ...change }) };
}

function createRun({ data }: Extract<RunEvent, { type: "RunCreated" }>): LiveRun {
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
    scheduled: data.parent?.steps ?? 0,
    steps: [],
    approvals: {},
    timers: {},
    lost: 0,
    slot: data.slot,
    ...(data.start_place !== undefined && { start_place: data.start_place }),
    ...withFiles({}, { data }),
    children: (data.children ?? []).map(inheritChild),
    childCount: data.children?.length ?? 0,
    waits: {},
    first_run_id: data.continued_from?.first_run_id ?? null,
    watchers: data.watchers ?? (data.starter ? [{ run_id: data.starter.run_id, awaited_run_id: null }] : []),
  };
}

/** Running steps of an ended run finish on their own. All other steps are dropped. */
function endRun(state: LiveRun, event: RunEnd): EndedRun {
  const { version, epoch, worker, workflow_id, project_id, slot, start_place, files, steps } = state;
  const running = steps.filter((step) => step.status === "running");
  const { forget_at } = event.data;
  const first_run_id = event.type === "RunContinued" ? event.data.first_run_id : state.first_run_id;
  const optional = { ...(start_place !== undefined && { start_place }), ...(files && { files }) };
  const ids = { workflow_id, project_id, first_run_id, slot, ...optional };
  const settling = settlementForEvent(state, event);
  return { status: END_STATUS[event.type], version, epoch, worker, ...ids, steps: running, forget_at, settling };
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
      const added = event.data.steps.map(({ key, name }) => ({ ...open, key, name }));
      const scheduled = state.scheduled + added.length;
      return { ...state, woken: false, lost: 0, scheduled, steps: [...state.steps, ...added] };
    }
    case "StepStarted":
      return withStep(state, event.data.key, { status: "running", attempt: event.data.attempt, retry_at: null });
    case "StepCompleted":
    case "StepFailed":
      return { ...state, woken: true, lost: 0, steps: withoutStep(state.steps, event.data.key) };
    case "StepAttemptFailed":
      return withStep(state, event.data.key, { status: "waiting", retry_at: event.data.retry_at });
    case "StepAttemptLost": {
      const lost = (findStep(state, event.data.key)?.lost ?? 0) + 1;
      return withStep(state, event.data.key, { status: "queued", lost });
    }
    case "TimerStarted":
      return { ...state, woken: false, timers: put(state.timers, event.data.key, event.data.fires_at) };
    case "TimerFired":
      return { ...state, woken: true, timers: without(state.timers, event.data.key) };
    case "ApprovalRequested":
      return { ...state, woken: false, approvals: requestApproval(state.approvals, event) };
    case "ApprovalReminded":
    case "ApprovalEscalated":
    case "ApprovalLinkCreated":
    case "ApprovalLinkRevoked":
    case "ApprovalDelegated":
      return { ...state, approvals: changeApproval(state.approvals, event) };
    case "ApprovalVoted":
    case "ApprovalCommented":
      return { ...state, ...withFiles(state, event), approvals: changeApproval(state.approvals, event) };
    case "ApprovalDecided": {
      const { approval_id, epoch, worker } = event.data;
      const approvals = without(state.approvals, approval_id);
      return { ...state, ...withFiles(state, event), epoch, worker, woken: true, approvals };
    }
    case "ApprovalExpired":
      return { ...state, woken: true, approvals: without(state.approvals, event.data.approval_id) };
    case "ApprovalCancelled":
      return { ...state, approvals: without(state.approvals, event.data.approval_id) };
    case "RunParked":
      return { ...state, woken: false, lost: 0 };
    case "RunCompleted":
    case "RunFailed":
    case "RunCancelled":
    case "RunContinued":
      return endRun(state, event);
    default:
      return { ...state, ...evolveLinks(state, event) };
  }
}

/** Steps that were running when the run ended may still end. */
function evolveEnded(state: EndedRun, event: RunEvent): EndedRun {
  switch (event.type) {
    case "StepCompleted":
    case "StepFailed":
    case "StepAttemptLost":
      return { ...state, steps: withoutStep(state.steps, event.data.key) };
    case "RunSettled":
      return { ...state, settling: null };
    case "RunKept":
      return { ...state, forget_at: event.data.forget_at };
    default:
      return state;
  }
}

export function evolve(state: RunState, event: RunEvent): RunState {
  if (event.type === "RunCreated") return createRun(event);
  if (event.type === "RunForgotten") return { status: "forgotten" };
  if (isLive(state)) return evolveLive({ ...state, version: state.version + 1 }, event);
  return isEnded(state) ? evolveEnded({ ...state, version: state.version + 1 }, event) : state;
}

/** The state after many events. */
export const evolveAll = (state: RunState, events: readonly RunEvent[]): RunState =>
  createFold()(() => events.reduce<RunState>(evolve, state));
