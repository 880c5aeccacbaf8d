import type { RecordedEvent } from "#events/envelope.ts";
import { stepId } from "#events/ids.ts";
import { eventTime, type RunEvent } from "#events/run.ts";
import type { Failure, StoredValue } from "#events/runParts.ts";

/** The code of a failure and its place in the source. */
export interface ErrorInfo {
  code: string;
  line: number | null;
  column: number | null;
}

export interface Attempt {
  /** Attempt number, from 1. */
  n: number;
  status: "running" | "completed" | "failed" | "lost";
  started_at: Date;
  ended_at: Date | null;
  error: string | null;
  error_info: ErrorInfo | null;
  logs: string[];
}

export interface Step {
  id: string;
  key: string;
  name: string;
  /** For steps of a runStepMany: the batch, and the position in it. */
  batch: string | null;
  index: number | null;
  /** `abandoned`: the run ended first. */
  status: "scheduled" | "running" | "retry_wait" | "completed" | "failed" | "abandoned";
  attempts: Attempt[];
  args: StoredValue | null;
  result: StoredValue | null;
  error: string | null;
  error_info: ErrorInfo | null;
  scheduled_at: Date;
  next_attempt_at: Date | null;
  completed_at: Date | null;
}

/** By key, in the order of scheduling. */
export type Steps = Map<string, Step>;

export type RunEventType = RunEvent["type"];
/** A recorded event of a run, of one type or of any. */
export type RecordedRunEvent<T extends RunEventType = RunEventType> = {
  [K in T]: RecordedEvent<Extract<RunEvent, { type: K }>>;
}[T];

export type StepEventType = "StepStarted" | "StepCompleted" | "StepAttemptFailed" | "StepAttemptLost" | "StepFailed";

/** Adds the steps that a tick has scheduled. */
export function scheduleSteps(steps: Steps, event: RecordedRunEvent<"StepsScheduled">): void {
  const { data, personal } = event;
  data.steps.forEach(({ key, name, batch, index }, n) =>
    steps.set(key, {
      id: stepId(data.run_id, key),
      key,
      name,
      batch,
      index,
      status: "scheduled",
      attempts: [],
      args: personal?.args[n] ?? null,
      result: null,
      error: null,
      error_info: null,
      scheduled_at: eventTime(event),
      next_attempt_at: null,
      completed_at: null,
    }),
  );
}

export const errorInfo = (code: string, error: Failure | undefined): ErrorInfo => ({
  code,
  line: error?.line ?? null,
  column: error?.column ?? null,
});

/** Ends the running attempt, if any. A lost attempt keeps that status. */
function endAttempt(step: Step, end: Pick<Attempt, "status" | "ended_at"> & Partial<Attempt>): void {
  const last = step.attempts.at(-1);
  if (last?.status === "running") Object.assign(last, end);
}

/** @param isOver whether the run has ended. */
export function applyToStep(steps: Steps, event: RecordedRunEvent<StepEventType>, isOver: boolean): void {
  const step = steps.get(event.data.key);
  if (!step) return;
  const at = eventTime(event);
  switch (event.type) {
    case "StepStarted": {
      const { attempt: n } = event.data;
      const open = { ended_at: null, error: null, error_info: null, logs: [] };
      step.attempts.push({ n, status: "running", started_at: at, ...open });
      step.status = "running";
      step.next_attempt_at = null;
      return;
    }
    case "StepCompleted":
      endAttempt(step, { status: "completed", ended_at: at, logs: event.personal?.logs ?? [] });
      step.status = "completed";
      step.result = event.personal?.result ?? null;
      step.completed_at = at;
      return;
    case "StepAttemptFailed": {
      const { logs = [], error } = event.personal ?? {};
      const error_info = errorInfo(event.data.code, error);
      endAttempt(step, { status: "failed", ended_at: at, error: error?.message ?? null, error_info, logs });
      step.status = "retry_wait";
      step.next_attempt_at = new Date(event.data.retry_at);
      return;
    }
    case "StepAttemptLost":
      endAttempt(step, { status: "lost", ended_at: at });
      step.status = isOver ? "abandoned" : "scheduled";
      return;
    case "StepFailed": {
      const { logs = [], error } = event.personal ?? {};
      step.error = error?.message ?? null;
      step.error_info = errorInfo(event.data.code, error);
      endAttempt(step, { status: "failed", ended_at: at, error: step.error, error_info: step.error_info, logs });
      step.status = "failed";
      step.next_attempt_at = null;
      step.completed_at = at;
    }
  }
}

/** At the end of a run, marks steps that are not running: they never start. */
export function abandonSteps(steps: Steps): void {
  for (const step of steps.values()) {
    if (step.status !== "scheduled" && step.status !== "retry_wait") continue;
    step.status = "abandoned";
    step.next_attempt_at = null;
  }
}
