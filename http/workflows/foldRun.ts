import type { RecordedEvent } from "#events/envelope.ts";
import { stepId } from "#events/ids.ts";
import { eventTime } from "#events/run.ts";
import type { Actor } from "#events/runOrigin.ts";
import type { StoredValue } from "#events/runParts.ts";
import { createPause } from "#events/slices.ts";
import { applyToChildren, type ChildRunsView } from "./foldChildren.ts";
import {
  abandonSteps,
  applyToStep,
  errorInfo,
  scheduleSteps,
  type ErrorInfo,
  type RecordedRunEvent,
  type RunEventType,
  type Step,
  type StepEventType,
  type Steps,
} from "./foldSteps.ts";
import { applyToWaits, endWaits, type WaitsView } from "./foldWaits.ts";

export interface Warning {
  code: string;
  message: string;
  step: string | null;
  line: number | null;
  tick: number;
}

/** A run as its events describe it. Stored values are not opened. */
export interface RunView {
  status: "pending" | "running" | "completed" | "failed" | "cancelled" | "continued";
  /** Version of the stream after the events. */
  version: number;
  /** Undefined before the first event. */
  created: RecordedRunEvent<"RunCreated">["data"] | undefined;
  args: StoredValue | null;
  external_user_id: string | null;
  /** Headers of the request that started the run. */
  headers: Record<string, string>;
  /** Answers of the parent run, in chunks. */
  inherited: StoredValue[];
  steps: Steps;
  children: ChildRunsView;
  waits: WaitsView;
  warnings: Warning[];
  /** Lines that `run()` logged, each with the tick in which it first appeared. */
  logs: { tick: number; text: string }[];
  ticks: number;
  attempts: number;
  result: StoredValue | null;
  completion: "explicit" | "implicit" | null;
  error: string | null;
  error_info: (ErrorInfo & { step_id: string | null; step: string | null; attempt: number | null }) | null;
  cancelled_by: Actor | null;
  cancel_reason: string | null;
  /** The run that continues this one, and its arguments. */
  continued_as: string | null;
  next_args: StoredValue | null;
  started_at: Date | null;
  completed_at: Date | null;
}

const newView = (): RunView => ({
  status: "pending",
  version: 0,
  created: undefined,
  args: null,
  external_user_id: null,
  headers: {},
  inherited: [],
  steps: new Map(),
  children: new Map(),
  waits: new Map(),
  warnings: [],
  logs: [],
  ticks: 0,
  attempts: 0,
  result: null,
  completion: null,
  error: null,
  error_info: null,
  cancelled_by: null,
  cancel_reason: null,
  continued_as: null,
  next_args: null,
  started_at: null,
  completed_at: null,
});

/** Events that a tick appends, all in one command. */
const TICK_EVENTS = new Set<RunEventType>([
  "RunStarted",
  "StepsScheduled",
  "TimerStarted",
  "ApprovalRequested",
  "ValueNoted",
  "ChildRunRequested",
  "RunWaitStarted",
  "MessageWaitStarted",
  "AgentTurnRequested",
  "RunWarned",
  "RunLogged",
  "RunParked",
  "RunCompleted",
  "RunContinued",
]);

/** Events that may come between the events of one tick. */
const INSIDE_TICKS = new Set<RunEventType>(["StepStarted", "ApprovalCancelled"]);

export const isLive = ({ status }: Pick<RunView, "status">): boolean => status === "pending" || status === "running";

function end(run: RunView, status: RunView["status"], at: Date): void {
  run.status = status;
  run.completed_at = at;
  endWaits(run.waits, at);
  abandonSteps(run.steps);
}

function fail(run: RunView, { data, personal, recorded_at }: RecordedRunEvent<"RunFailed">): void {
  const { run_id, code, key, step } = data;
  const failed = key === null ? undefined : run.steps.get(key);
  run.error = personal?.error.message ?? null;
  run.error_info = {
    ...errorInfo(code, personal?.error),
    step_id: step === null || key === null ? null : stepId(run_id, key),
    step,
    attempt: failed?.attempts.at(-1)?.n ?? null,
  };
  end(run, "failed", recorded_at);
}

type Apply<T extends RunEventType> = (run: RunView, event: RecordedRunEvent<T>) => void;

const changeStep = (run: RunView, event: RecordedRunEvent<StepEventType>) =>
  applyToStep(run.steps, event, !isLive(run));
const changeWaits = (run: RunView, event: RecordedRunEvent) => applyToWaits(run.waits, event);
const changeChildren = (run: RunView, event: RecordedRunEvent<"ChildRunRequested" | "ChildRunStarted">) =>
  applyToChildren(run.children, event);
const ignore = (): void => {};

/** How each type of event changes the view. */
const APPLY: { [T in RunEventType]: Apply<T> } = {
  RunCreated(run, { data, personal }) {
    run.created = data;
    run.args = personal?.args ?? null;
    run.external_user_id = personal?.external_user_id ?? null;
    run.headers = personal?.headers ?? {};
    run.inherited = personal?.inherited ?? [];
  },
  RunStarted(run, event) {
    run.status = "running";
    run.started_at = eventTime(event);
  },
  StepsScheduled: (run, event) => scheduleSteps(run.steps, event),
  StepStarted(run, event) {
    run.attempts += 1;
    changeStep(run, event);
  },
  StepCompleted: changeStep,
  StepAttemptFailed: changeStep,
  StepAttemptLost: changeStep,
  StepFailed: changeStep,
  TimerStarted: changeWaits,
  TimerFired: changeWaits,
  ApprovalRequested: changeWaits,
  ApprovalVoted: ignore,
  ApprovalReminded: changeWaits,
  ApprovalEscalated: changeWaits,
  ApprovalLinkCreated: changeWaits,
  ApprovalLinkRevoked: ignore,
  ApprovalDelegated: ignore,
  ApprovalCommented: ignore,
  ApprovalDecided: changeWaits,
  ApprovalExpired: changeWaits,
  ApprovalCancelled: changeWaits,
  RunWarned(run, { data: { code, call, line }, personal }) {
    run.warnings.push({ code, message: personal?.message ?? "", step: call, line, tick: run.ticks });
  },
  RunLogged(run, { personal }) {
    for (const text of personal?.logs ?? []) run.logs.push({ tick: run.ticks, text });
  },
  RunCompleted(run, { data, personal, recorded_at }) {
    run.result = personal?.result ?? null;
    run.completion = data.completion;
    end(run, "completed", recorded_at);
  },
  RunFailed: fail,
  RunCancelled(run, { data, personal, recorded_at }) {
    run.cancelled_by = data.by;
    run.cancel_reason = personal?.reason ?? null;
    end(run, "cancelled", recorded_at);
  },
  RunContinued(run, { data, personal, recorded_at }) {
    run.continued_as = data.continued_as;
    run.next_args = personal?.args ?? null;
    end(run, "continued", recorded_at);
  },
  ChildRunRequested: changeChildren,
  ChildRunStarted: changeChildren,
  RunWaitStarted: changeWaits,
  MessageWaitStarted: changeWaits,
  AgentTurnRequested: changeWaits,
  AgentTurnStarted: changeWaits,
  AgentTurnPending: ignore,
  WaitAnswered: changeWaits,
  WaitTimedOut: changeWaits,
  RunWaitRegistered: ignore,
  RunWatched: ignore,
  RunSettled: ignore,
  RunTaken: ignore,
  ValueNoted: ignore,
  RunParked: ignore,
  RunKept: ignore,
  RunForgotten: ignore,
};

/** Folds the events of a run, up to 70,000, in linear time. Lets other work run in between. */
export async function foldRun(events: readonly RecordedEvent[]): Promise<RunView> {
  const run = newView();
  const pause = createPause();
  let tickCommand: string | undefined;
  for (const event of events as readonly RecordedRunEvent[]) {
    run.version = event.version;
    if (TICK_EVENTS.has(event.type)) {
      if (event.command_id !== tickCommand) run.ticks += 1;
      tickCommand = event.command_id;
    } else if (!INSIDE_TICKS.has(event.type)) tickCommand = undefined;
    (APPLY[event.type] as Apply<RunEventType>)(run, event);
    const turn = pause();
    if (turn) await turn;
  }
  return run;
}

/** Steps that were running when the run ended: they are not interrupted. */
export const listRunningSteps = ({ steps }: RunView): Step[] =>
  [...steps.values()].filter(({ status }) => status === "running");
