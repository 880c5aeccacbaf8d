import { StepAttemptFailed, StepCompleted, StepFailed, StepStarted } from "#events/run.ts";
import type { StepEntry } from "#events/runParts.ts";
import { failRun, type RunChanges } from "./runChanges.ts";
import { findStep, isEnded, isLive, type OpenStep, type RunState } from "./runState.ts";

export interface ChangeContext {
  run_id: string;
  at: string;
  worker: string;
}

const findOpenStep = (state: RunState, key: string): OpenStep | undefined =>
  isLive(state) || isEnded(state) ? findStep(state, key) : undefined;

/** Adds the events of an entry. Ignores entries that no longer match the run's state. */
export function recordEntry(changes: RunChanges, entry: StepEntry, { run_id, at, worker }: ChangeContext): void {
  const step = findOpenStep(changes.state, entry.key);
  if (!step) return;
  const ids = { run_id, key: entry.key, name: step.name, attempt: entry.attempt };
  switch (entry.type) {
    case "step_started":
      if (isLive(changes.state) && step.status !== "running" && entry.attempt === step.attempt + 1)
        changes.add(StepStarted.of({ ...ids, at, worker }));
      return;
    case "step_completed": {
      if (!isRunningAttempt(step, entry.attempt)) return;
      const { duration_ms, secrets, result, logs } = entry;
      return changes.add(StepCompleted.of({ ...ids, at, duration_ms, secrets }, { result, logs }));
    }
    case "step_attempt_failed": {
      // a lost step may fail without another attempt
      if (!isRunningAttempt(step, entry.attempt) && !(step.lost > 0 && step.attempt === entry.attempt)) return;
      const { duration_ms, secrets, code, retry_at, error, logs } = entry;
      const failed = { ...ids, at, duration_ms, secrets, code };
      if (retry_at !== null && isLive(changes.state))
        return changes.add(StepAttemptFailed.of({ ...failed, retry_at }, { error, logs }));
      changes.add(StepFailed.of(failed, { error, logs }));
      if (step.on_error === "fail") failRun(changes, run_id, at, { code, key: entry.key, step: step.name, error });
    }
  }
}

const isRunningAttempt = (step: OpenStep, attempt: number): boolean =>
  step.status === "running" && step.attempt === attempt;
