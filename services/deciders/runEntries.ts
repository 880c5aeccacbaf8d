import { StepAttemptFailed, StepCompleted, StepFailed, StepStarted } from "#events/run.ts";
import type { Entry } from "#events/runParts.ts";
import { failRun, type Course } from "./runCourse.ts";
import { isEnded, isLive, type OpenStep, type RunState } from "./runState.ts";

export interface Advancing {
  run_id: string;
  at: string;
  worker: string;
}

const stepOf = (state: RunState, key: string): OpenStep | undefined =>
  isLive(state) || isEnded(state) ? state.steps[key] : undefined;

/** What an entry means for the run as it stands; one that does not fit it any more means nothing. */
export function recorded(course: Course, entry: Entry, { run_id, at, worker }: Advancing): void {
  const step = stepOf(course.state, entry.key);
  if (!step) return;
  const of = { run_id, key: entry.key, name: step.name, attempt: entry.attempt };
  switch (entry.type) {
    case "step_started":
      if (isLive(course.state) && step.status !== "running" && entry.attempt === step.attempt + 1)
        course.add(StepStarted.of({ ...of, at, worker }));
      return;
    case "step_completed": {
      if (!runs(step, entry.attempt)) return;
      const { duration_ms, secrets, result, logs } = entry;
      return course.add(StepCompleted.of({ ...of, at, duration_ms, secrets }, { result, logs }));
    }
    case "step_attempt_failed": {
      // one that was lost is given up without another attempt
      if (!runs(step, entry.attempt) && !(step.lost > 0 && step.attempt === entry.attempt)) return;
      const { duration_ms, secrets, code, retry_at, error, logs } = entry;
      const failed = { ...of, at, duration_ms, secrets, code };
      if (retry_at !== null && isLive(course.state))
        return course.add(StepAttemptFailed.of({ ...failed, retry_at }, { error, logs }));
      course.add(StepFailed.of(failed, { error, logs }));
      if (step.on_error === "fail") failRun(course, run_id, at, { code, key: entry.key, step: step.name, error });
    }
  }
}

const runs = (step: OpenStep, attempt: number): boolean => step.status === "running" && step.attempt === attempt;
