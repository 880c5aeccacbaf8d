import {
  ApprovalCancelled,
  ApprovalRequested,
  RunCompleted,
  RunContinued,
  RunLogged,
  RunParked,
  RunStarted,
  RunWarned,
  StepStarted,
  StepsScheduled,
  TimerStarted,
  ValueNoted,
} from "#events/run.ts";
import { continuationId } from "#events/runLinks.ts";
import type { TickResult } from "#events/runParts.ts";
import { applyLinks } from "./runLinks.ts";
import { cancelApprovals, endFields, failRun, type RunChanges } from "./runChanges.ts";
import type { ChangeContext } from "./runEntry.ts";
import { findStep, isLive, type LiveRun } from "./runState.ts";
import { shouldPark } from "./runWork.ts";

/** Adds the events of a tick. The run must still be at the version that the tick saw. */
export function applyTick(changes: RunChanges, tick: TickResult, context: ChangeContext): void {
  if (!isLive(changes.state)) return;
  const { run_id, at } = context;
  if (changes.state.status === "pending") changes.add(RunStarted.of({ run_id, at }));
  for (const { key, json } of tick.notes) changes.add(ValueNoted.of({ run_id, key }, { json }));
  for (const { message, ...warning } of tick.warnings) changes.add(RunWarned.of({ run_id, ...warning }, { message }));
  if (tick.logs.length > 0) changes.add(RunLogged.of({ run_id }, { logs: tick.logs }));
  if (tick.end) return endRun(changes, tick.end, context);
  addWork(changes, tick, context);
}

function endRun(changes: RunChanges, end: NonNullable<TickResult["end"]>, { run_id, at }: ChangeContext): void {
  if (end.type === "failed") return failRun(changes, run_id, at, end);
  if (end.type === "continued") return continueAs(changes, end, { run_id, at });
  const { completion, result } = end;
  const fields = endFields(changes.state as LiveRun, "completed", run_id, at);
  cancelApprovals(changes, run_id);
  changes.add(RunCompleted.of({ ...fields, completion }, { result }));
}

function continueAs(
  changes: RunChanges,
  { args, type: _, ...rules }: Extract<NonNullable<TickResult["end"]>, { type: "continued" }>,
  { run_id, at }: Pick<ChangeContext, "run_id" | "at">,
): void {
  const live = changes.state as LiveRun;
  const fields = endFields(live, "continued", run_id, at);
  const chain = { continued_as: continuationId(run_id), first_run_id: live.first_run_id ?? run_id };
  cancelApprovals(changes, run_id);
  changes.add(RunContinued.of({ ...fields, ...rules, ...chain }, { args }));
}

/** Adds the steps, child runs, waits, timers and approvals that `run()` waits for now. */
function addWork(changes: RunChanges, tick: TickResult, context: ChangeContext): void {
  const { run_id, at, worker } = context;
  const { max_steps, scheduled, workflow_id, project_id } = changes.state as LiveRun;
  const more = tick.schedule.reduce((sum, { steps }) => sum + steps.length, tick.agentTurns.length);
  if (scheduled + more > max_steps) {
    const error = {
      message: `The run asks for more than ${max_steps} steps, the most that its workflow allows.`,
      line: null,
    };
    return failRun(changes, run_id, at, { code: "too_many_steps", error });
  }
  for (const { steps, ...batch } of tick.schedule) {
    const args = steps.map((step) => step.args);
    const publicSteps = steps.map(({ args: _, ...step }) => step);
    changes.add(StepsScheduled.of({ run_id, at, ...batch, steps: publicSteps }, { args }));
  }
  if (!applyLinks(changes, tick, context)) return;
  for (const timer of tick.timers) changes.add(TimerStarted.of({ run_id, ...timer }));
  for (const { name, title, body, form, assignees, escalate_to, attachments, ...terms } of tick.approvals) {
    const optional = { ...(escalate_to && { escalate_to }), ...(attachments && { attachments }) };
    const text = { name, title, body, form, assignees, ...optional };
    changes.add(ApprovalRequested.of({ run_id, workflow_id, project_id, ...terms }, text));
  }
  for (const approval_id of tick.superseded) {
    const key = (changes.state as LiveRun).approvals[approval_id]?.key;
    if (key) changes.add(ApprovalCancelled.of({ run_id, approval_id, key, reason: "superseded" }));
  }
  if (shouldPark(changes.state as LiveRun)) changes.add(RunParked.of({ run_id }));
  for (const key of tick.start) {
    const step = findStep(changes.state as LiveRun, key);
    if (step && step.status !== "running")
      changes.add(StepStarted.of({ run_id, key, name: step.name, attempt: step.attempt + 1, at, worker }));
  }
}
