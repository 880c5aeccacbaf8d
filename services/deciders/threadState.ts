import type { WorkStatus } from "#events/decider.ts";

/** A call that waits for a decision. */
interface OpenApproval {
  round: number;
  call: number;
  expires_at: string;
}

/** The one turn in flight. */
export interface RunningTurn {
  id: string;
  attempt: number;
  worker: string | null;
  model: string;
  ends_by: string;
  command_id: string;
  /** Whether it is a response of an agent, which stays in its thread even if it is refused. */
  of_agent: boolean;
  /** The run that is notified of its end. */
  awaited_by?: string;
  /** Workers that died while they held it. */
  deaths: number;
  /** Pending approvals of its calls, by id. */
  approvals: Record<string, OpenApproval>;
  /** Of a parked turn: the milliseconds it has left when it resumes. Null: a worker runs it. */
  left_ms: number | null;
  /** How often it was resumed. Each resumption is an attempt that no worker lost. */
  resumed: number;
}

/** Calls to the caller's own tools, with which the last turn ended. */
interface OpenCalls {
  turn_id: string;
  ids: string[];
}

export type ThreadState =
  | { status: "absent" }
  | {
      status: "open";
      scope: string;
      turn: RunningTurn | null;
      /** The newest turn that was not refused, and the one before it. Null: there is none, or it was deleted. */
      newest: string | null;
      before: string | null;
      refused: string[];
      /** A failed turn leaves them open, so that its results may be sent again. */
      open_calls: OpenCalls | null;
    }
  | { status: "deleted" };

export const isParked = ({ left_ms }: RunningTurn): boolean => left_ms !== null;

/** The turn in flight, if a command belongs to its current attempt. Commands of other turns and older attempts change nothing. */
export function findCurrent(state: ThreadState, data: { turn_id: string; attempt: number }): RunningTurn | undefined {
  const turn = state.status === "open" ? state.turn : null;
  return turn?.id === data.turn_id && turn.attempt === data.attempt ? turn : undefined;
}

/** Like findCurrent, but not if the turn is parked: then no worker has anything to record. */
export function findRunning(state: ThreadState, data: { turn_id: string; attempt: number }): RunningTurn | undefined {
  const turn = findCurrent(state, data);
  return turn && !isParked(turn) ? turn : undefined;
}

export function workStatus(state: ThreadState): WorkStatus {
  const turn = state.status === "open" ? state.turn : null;
  if (!turn) return { status: null, due_at: null, worker: null };
  if (!isParked(turn)) return { status: "running", due_at: turn.ends_by, worker: turn.worker };
  const times = Object.values(turn.approvals).map(({ expires_at }) => expires_at);
  const due_at = times.reduce((least, time) => (Date.parse(time) < Date.parse(least) ? time : least));
  return { status: "waiting", due_at, worker: null };
}
