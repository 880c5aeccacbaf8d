import type { Recorded } from "#events/envelope.ts";
import { stepId } from "#events/ids.ts";
import { timeOf, type RunEvent } from "#events/run.ts";
import type { Value } from "#events/runParts.ts";

export interface Attempt {
  /** 1, 2, 3 … */
  n: number;
  status: "running" | "completed" | "failed" | "lost";
  started_at: Date;
  ended_at: Date | null;
  error: string | null;
  logs: string[];
}

export interface Step {
  id: string;
  key: string;
  name: string;
  /** Of a runStepMany: what its items share, and which of them it is. */
  batch: string | null;
  index: number | null;
  /** `abandoned`: the run ended before it did. */
  status: "scheduled" | "running" | "retry_wait" | "completed" | "failed" | "abandoned";
  attempts: Attempt[];
  args: Value | null;
  result: Value | null;
  error: string | null;
  scheduled_at: Date;
  next_attempt_at: Date | null;
  completed_at: Date | null;
}

/** In the order in which they were scheduled, by key. */
export type Steps = Map<string, Step>;

/** Any event of a run, told apart by its type. */
export type RunHappened = { [T in RunEvent["type"]]: Recorded<Extract<RunEvent, { type: T }>> }[RunEvent["type"]];
export type Of<T extends RunEvent["type"]> = Extract<RunHappened, { type: T }>;

type OfStep = "StepStarted" | "StepCompleted" | "StepAttemptFailed" | "StepAttemptLost" | "StepFailed";

export function schedule(steps: Steps, event: Of<"StepsScheduled">): void {
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
      scheduled_at: timeOf(event),
      next_attempt_at: null,
      completed_at: null,
    }),
  );
}

/** Ends the attempt that runs, if one does; one that was lost before keeps that. */
function endAttempt(step: Step, end: Pick<Attempt, "status" | "ended_at"> & Partial<Attempt>): void {
  const last = step.attempts.at(-1);
  if (last?.status === "running") Object.assign(last, end);
}

/** What an event means for its step; `over`: the run has ended. */
export function attempted(steps: Steps, event: Of<OfStep>, over: boolean): void {
  const step = steps.get(event.data.key);
  if (!step) return;
  const at = timeOf(event);
  switch (event.type) {
    case "StepStarted": {
      const { attempt: n } = event.data;
      step.attempts.push({ n, status: "running", started_at: at, ended_at: null, error: null, logs: [] });
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
      endAttempt(step, { status: "failed", ended_at: at, error: error?.message ?? null, logs });
      step.status = "retry_wait";
      step.next_attempt_at = new Date(event.data.retry_at);
      return;
    }
    case "StepAttemptLost":
      endAttempt(step, { status: "lost", ended_at: at });
      step.status = over ? "abandoned" : "scheduled";
      return;
    case "StepFailed": {
      const { logs = [], error } = event.personal ?? {};
      step.error = error?.message ?? null;
      endAttempt(step, { status: "failed", ended_at: at, error: step.error, logs });
      step.status = "failed";
      step.next_attempt_at = null;
      step.completed_at = at;
    }
  }
}

/** The run is over: what has not begun, or waits for another attempt, is left. */
export function abandon(steps: Steps): void {
  for (const step of steps.values()) {
    if (step.status !== "scheduled" && step.status !== "retry_wait") continue;
    step.status = "abandoned";
    step.next_attempt_at = null;
  }
}
