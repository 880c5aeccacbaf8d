import {
  ApprovalCancelled,
  ApprovalRequested,
  RunCompleted,
  RunLogged,
  RunParked,
  RunStarted,
  RunWarned,
  StepStarted,
  StepsScheduled,
  TimerStarted,
  ValueNoted,
} from "#events/run.ts";
import type { TickResult } from "#events/runParts.ts";
import { cancelApprovals, endOf, failRun, type Course } from "./runCourse.ts";
import type { Advancing } from "./runEntries.ts";
import { isLive, type LiveRun } from "./runState.ts";

/** What one re-execution of `run()` has come to, of a run that stands as it saw it. */
export function ticked(course: Course, tick: TickResult, asked: Advancing): void {
  if (!isLive(course.state)) return;
  const { run_id, at } = asked;
  if (course.state.status === "pending") course.add(RunStarted.of({ run_id, at }));
  for (const { key, json } of tick.notes) course.add(ValueNoted.of({ run_id, key }, { json }));
  for (const { message, ...warning } of tick.warnings) course.add(RunWarned.of({ run_id, ...warning }, { message }));
  if (tick.logs.length > 0) course.add(RunLogged.of({ run_id }, { logs: tick.logs }));
  if (tick.end) return end(course, tick.end, asked);
  next(course, tick, asked);
}

function end(course: Course, ended: NonNullable<TickResult["end"]>, { run_id, at }: Advancing): void {
  if (ended.type === "failed") return failRun(course, run_id, at, ended);
  const { completion, result } = ended;
  const over = endOf(course.state as LiveRun, run_id, at);
  cancelApprovals(course, run_id);
  course.add(RunCompleted.of({ ...over, completion }, { result }));
}

/** What `run()` waits for, from now on. */
function next(course: Course, tick: TickResult, asked: Advancing): void {
  const { run_id, at, worker } = asked;
  const { max_steps, scheduled, workflow_id, project_id } = course.state as LiveRun;
  const more = tick.schedule.reduce((sum, { steps }) => sum + steps.length, 0);
  if (scheduled + more > max_steps) {
    const error = {
      message: `The run asks for more than ${max_steps} steps, the most that its workflow allows.`,
      line: null,
    };
    return failRun(course, run_id, at, { code: "too_many_steps", error });
  }
  for (const { steps, ...batch } of tick.schedule) {
    const args = steps.map((step) => step.args);
    const shown = steps.map(({ args: _, ...step }) => step);
    course.add(StepsScheduled.of({ run_id, at, ...batch, steps: shown }, { args }));
  }
  for (const timer of tick.timers) course.add(TimerStarted.of({ run_id, ...timer }));
  for (const { name, title, body, form, assignees, ...terms } of tick.approvals)
    course.add(
      ApprovalRequested.of({ run_id, workflow_id, project_id, ...terms }, { name, title, body, form, assignees }),
    );
  for (const approval_id of tick.superseded) {
    const key = (course.state as LiveRun).approvals[approval_id]?.key;
    if (key) course.add(ApprovalCancelled.of({ run_id, approval_id, key, reason: "superseded" }));
  }
  // what still runs holds it anyway
  const { woken, steps } = course.state as LiveRun;
  if (woken && Object.values(steps).every(({ status }) => status === "waiting")) course.add(RunParked.of({ run_id }));
  for (const key of tick.start) {
    const step = (course.state as LiveRun).steps[key];
    if (step && step.status !== "running")
      course.add(StepStarted.of({ run_id, key, name: step.name, attempt: step.attempt + 1, at, worker }));
  }
}
