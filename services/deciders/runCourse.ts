import { ApprovalCancelled, RunFailed, type RunEvent } from "#events/run.ts";
import { evolve, isLive, type LiveRun, type RunState } from "./runState.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Events that follow each other, and the state after them. */
export interface Course {
  state: RunState;
  events: RunEvent[];
  add(...events: RunEvent[]): void;
}

export const courseFrom = (state: RunState): Course => ({
  state,
  events: [],
  add(...events) {
    this.events.push(...events);
    this.state = events.reduce(evolve, this.state);
  },
});

/** What every end of a run says: when it is to be destroyed, and the place that it gives back. */
export const endOf = ({ slot, retention_days }: LiveRun, run_id: string, at: string) => ({
  run_id,
  slot,
  forget_at: new Date(Date.parse(at) + retention_days * DAY_MS).toISOString(),
});

/** Nobody decides any more what a run has asked that is over. */
export function cancelApprovals(course: Course, run_id: string): void {
  if (!isLive(course.state)) return;
  for (const [approval_id, { key }] of Object.entries(course.state.approvals))
    course.add(ApprovalCancelled.of({ run_id, approval_id, key, reason: "run_ended" }));
}

export interface RunFailure {
  code: string;
  key?: string | null;
  step?: string | null;
  error: { message: string; line: number | null };
}

export function failRun(course: Course, run_id: string, at: string, { code, key, step, error }: RunFailure): void {
  if (!isLive(course.state)) return;
  const end = endOf(course.state, run_id, at);
  cancelApprovals(course, run_id);
  course.add(RunFailed.of({ ...end, code, key: key ?? null, step: step ?? null }, { error }));
}
