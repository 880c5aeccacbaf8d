import type { CommandFrom } from "#events/envelope.ts";
import { type ThreadEvent } from "#events/thread.ts";
import {
  ToolApprovalCancelled,
  ToolApprovalDecided,
  ToolApprovalExpired,
  ToolApprovalRequested,
  TurnParked,
  TurnResumed,
  type DecideToolApproval,
  type ExpireToolApprovals,
  type ParkTurn,
} from "#events/threadApprovals.ts";
import { approvalNotPending } from "./openApprovals.ts";
import { findCurrent, findRunning, isParked, type RunningTurn, type ThreadState } from "./threadState.ts";

/* Approvals of tool calls. A turn that waits for them is parked, and resumes when all are decided (ADR 48). */

/** Minimum time that a resumed turn has left: the decision may come late, and the model must still answer the result. */
const MIN_LEFT_MS = 60_000;

export function parkTurn({ data, at }: CommandFrom<typeof ParkTurn>, state: ThreadState): ThreadEvent[] {
  const { turn_id, attempt, approvals, frames, ...asker } = data;
  const turn = findRunning(state, data);
  if (!turn) return [];
  const requested = approvals.map(({ assignees, ...terms }) =>
    ToolApprovalRequested.of({ turn_id, attempt, ...terms, ...asker }, { assignees }),
  );
  const left_ms = Math.max(MIN_LEFT_MS, Date.parse(turn.ends_by) - Date.parse(at));
  return [...requested, TurnParked.of({ turn_id, attempt, frames, left_ms })];
}

/** Gives the turn to a worker if nothing is left to decide. */
function resumeWhenDecided(turn: RunningTurn, settled: ThreadEvent[], at: string, worker: string | null) {
  const after = settled.reduce(evolveTurn, turn);
  if (Object.keys(after.approvals).length > 0) return settled;
  const ends_by = new Date(Date.parse(at) + turn.left_ms!).toISOString();
  const resumed = { turn_id: turn.id, attempt: turn.attempt + 1, worker, ends_by };
  return [...settled, TurnResumed.of(resumed)];
}

export function decideToolApproval(
  { data, at, worker }: CommandFrom<typeof DecideToolApproval>,
  state: ThreadState,
): ThreadEvent[] {
  const { comment, ...decision } = data;
  const { turn_id, approval_id } = data;
  const turn = state.status === "open" && state.turn?.id === turn_id ? state.turn : undefined;
  const approval = turn?.approvals[approval_id];
  if (!turn || !approval || Date.parse(approval.expires_at) <= Date.parse(at)) throw approvalNotPending();
  const { round, call } = approval;
  const decided = ToolApprovalDecided.of({ ...decision, round, call, at }, { comment });
  return resumeWhenDecided(turn, [decided], at, worker ?? null);
}

export function expireToolApprovals(
  { data, at, worker }: CommandFrom<typeof ExpireToolApprovals>,
  state: ThreadState,
): ThreadEvent[] {
  const turn = findCurrent(state, data);
  if (!turn || !isParked(turn)) return [];
  const due = Object.entries(turn.approvals).filter(([, { expires_at }]) => Date.parse(expires_at) <= Date.parse(at));
  const expired = due.map(([approval_id, { round, call }]) =>
    ToolApprovalExpired.of({ turn_id: turn.id, approval_id, round, call }),
  );
  return expired.length === 0 ? [] : resumeWhenDecided(turn, expired, at, worker ?? null);
}

/** Cancels the pending approvals of a turn that ends or is deleted. */
export const cancelApprovals = (turn: RunningTurn | null | undefined): ThreadEvent[] =>
  Object.entries(turn?.approvals ?? {}).map(([approval_id, { round, call }]) =>
    ToolApprovalCancelled.of({ turn_id: turn!.id, approval_id, round, call }),
  );

function withoutApproval(turn: RunningTurn, id: string): RunningTurn {
  const { [id]: _, ...approvals } = turn.approvals;
  return { ...turn, approvals };
}

/** Applies events that change the turn in flight without ending it. */
export function evolveTurn(turn: RunningTurn, event: ThreadEvent): RunningTurn {
  switch (event.type) {
    case "TurnTakenOver": {
      const { attempt, worker, worker_died } = event.data;
      return { ...turn, attempt, worker, deaths: turn.deaths + (worker_died ? 1 : 0) };
    }
    case "ToolApprovalRequested": {
      const { approval_id, round, call, expires_at } = event.data;
      return { ...turn, approvals: { ...turn.approvals, [approval_id]: { round, call, expires_at } } };
    }
    case "TurnParked":
      return { ...turn, worker: null, left_ms: event.data.left_ms };
    case "ToolApprovalDecided":
    case "ToolApprovalExpired":
    case "ToolApprovalCancelled":
      return withoutApproval(turn, event.data.approval_id);
    case "TurnResumed": {
      const { attempt, worker, ends_by } = event.data;
      return { ...turn, attempt, worker, ends_by, left_ms: null, resumed: turn.resumed + 1 };
    }
    default:
      return turn;
  }
}
