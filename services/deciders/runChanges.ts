import { ApprovalCancelled, RunFailed, type RunEvent } from "#events/run.ts";
import type { Failure } from "#events/runParts.ts";
import { DAY_MS } from "#events/units.ts";
import { createFold } from "./records.ts";
import { settlementForStatus } from "./runLinkState.ts";
import { evolve, isLive, type LiveRun, type RunState } from "./runState.ts";

/** The events of a command so far, and the state after them, which is valid until the next change. */
export interface RunChanges {
  state: RunState;
  events: RunEvent[];
  add(...events: RunEvent[]): void;
}

/** Something that happens to a run by itself at a given time (RFC 3339). */
export interface DueChange {
  time: string;
  apply(changes: RunChanges): void;
}

export const dueEvent = (time: string, event: RunEvent): DueChange => ({
  time,
  apply: (changes) => changes.add(event),
});

/** One fold for the whole command: runs of earlier releases may have ten thousand timers, which it fires. */
export function startChanges(state: RunState): RunChanges {
  const fold = createFold();
  return {
    state,
    events: [],
    add(...events) {
      this.events.push(...events);
      this.state = fold(() => events.reduce<RunState>(evolve, this.state));
    },
  };
}

/** The common fields of events that end a run: its retention, and the slot it releases. */
export const endFields = (
  run: LiveRun,
  status: "completed" | "failed" | "cancelled" | "continued",
  run_id: string,
  at: string,
) => ({
  run_id,
  slot: run.slot,
  forget_at: new Date(Date.parse(at) + run.retention_days * DAY_MS).toISOString(),
  ...((status === "continued" || settlementForStatus(run, status)) && { settles: true }),
});

/** Cancels the pending approvals of an ending run. */
export function cancelApprovals(changes: RunChanges, run_id: string): void {
  if (!isLive(changes.state)) return;
  for (const [approval_id, { key }] of Object.entries(changes.state.approvals))
    changes.add(ApprovalCancelled.of({ run_id, approval_id, key, reason: "run_ended" }));
}

export interface RunFailure {
  code: string;
  key?: string | null;
  step?: string | null;
  error: Failure;
}

export function failRun(changes: RunChanges, run_id: string, at: string, { code, key, step, error }: RunFailure): void {
  if (!isLive(changes.state)) return;
  const end = endFields(changes.state, "failed", run_id, at);
  cancelApprovals(changes, run_id);
  changes.add(RunFailed.of({ ...end, code, key: key ?? null, step: step ?? null }, { error }));
}
