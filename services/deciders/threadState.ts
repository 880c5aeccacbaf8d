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
  /** Whether it is a response of an agent. A response that has started stays in its thread, even if it is refused. */
  of_agent: boolean;
  /** The run that learns of its end. */
  awaited_by?: string;
  /** Workers that died while they had it. */
  deaths: number;
  /** Pending approvals of its calls, by id. */
  approvals: Record<string, OpenApproval>;
  /** Of a parked turn: the time that it has left when it is resumed. Null: a worker runs it. */
  left_ms: number | null;
  /** How often it was resumed; each time is an attempt that no worker lost. */
  resumed: number;
}

/** Calls of the caller's own tools that the last turn ended with. */
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
      /** The newest turn that was not refused, and the one before it. Null: unknown, because it was deleted, or none. */
      newest: string | null;
      before: string | null;
      refused: string[];
      /** A turn that fails leaves them open, so its results may be sent again. */
      open_calls: OpenCalls | null;
    }
  | { status: "deleted" };

export const isParked = ({ left_ms }: RunningTurn): boolean => left_ms !== null;

/** The turn in flight, if a command belongs to its current attempt. Those of other turns and older attempts change nothing. */
export function findCurrent(state: ThreadState, data: { turn_id: string; attempt: number }): RunningTurn | undefined {
  const turn = state.status === "open" ? state.turn : null;
  return turn?.id === data.turn_id && turn.attempt === data.attempt ? turn : undefined;
}

/** The same, unless it is parked: then no worker has anything to record. */
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
