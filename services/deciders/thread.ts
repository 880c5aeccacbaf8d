import type { Decider } from "#events/decider.ts";
import { streamName } from "#events/ids.ts";
import {
  RoundRequested,
  TargetFailed,
  ThreadDeleted,
  ToolFinished,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStopped,
  TurnTakenOver,
  type ThreadCommand,
  type ThreadEvent,
} from "#events/thread.ts";
import { ToolStarted } from "#events/threadApprovals.ts";
import { cancelApprovals, decideToolApproval, evolveTurn, expireToolApprovals, parkTurn } from "./threadApprovals.ts";
import { threadNotFound, startTurn } from "./startTurn.ts";
import { findCurrent, findRunning, workStatus, type RunningTurn, type ThreadState } from "./threadState.ts";

export type { ThreadState } from "./threadState.ts";

/** Refused turns that a thread remembers, to recognize a redelivered StartTurn. Redelivery takes only seconds. */
const MAX_REFUSED_TURNS = 50;

type OpenThread = Extract<ThreadState, { status: "open" }>;
type StartedTurn = Extract<ThreadEvent, { type: "TurnStarted" }>["data"];
type EndCommand = Extract<ThreadCommand, { type: "CompleteTurn" | "FailTurn" | "StopTurn" | "RefuseTurn" }>;

const awaited = ({ awaited_by }: Pick<StartedTurn, "awaited_by">) => awaited_by !== undefined && { awaited_by };

/** Ends the turn in flight. A parked turn has no worker that could complete or refuse it, but it can fail or be stopped. */
function endTurn(command: EndCommand, state: ThreadState): ThreadEvent[] {
  const needsWorker = command.type === "CompleteTurn" || command.type === "RefuseTurn";
  const turn = (needsWorker ? findRunning : findCurrent)(state, command.data);
  if (!turn) return [];
  switch (command.type) {
    case "CompleteTurn": {
      const { said, ...data } = command.data;
      const open_calls = said.calls?.map(({ id }) => id);
      const fields = { ...data, model: data.model ?? turn.model, ...awaited(turn), ...(open_calls && { open_calls }) };
      return [TurnCompleted.of(fields, { said })];
    }
    case "FailTurn": {
      const { said, message, ...data } = command.data;
      const fields = { ...data, model: data.model ?? turn.model, ...awaited(turn) };
      return [...cancelApprovals(turn), TurnFailed.of(fields, { said, message })];
    }
    case "StopTurn": {
      const { said, ...data } = command.data;
      const fields = { ...data, model: data.model ?? turn.model, ...awaited(turn) };
      return [...cancelApprovals(turn), TurnStopped.of(fields, { said })];
    }
    case "RefuseTurn": {
      const { turn_id, attempt, code, message } = command.data;
      // a budget's message is our own; a provider's could hold personal data, which must not be public
      const limit = code === "budget_exceeded" || code === "budget_reserved" ? { limit: message } : {};
      return [TurnRefused.of({ turn_id, attempt, code, ...limit, ...awaited(turn) })];
    }
  }
}

const startedTurn = ({ turn_id, worker, model, ends_by, command_id, agent, awaited_by }: StartedTurn): RunningTurn => ({
  id: turn_id,
  attempt: 1,
  worker,
  model,
  ends_by,
  command_id,
  of_agent: agent !== undefined,
  ...awaited({ awaited_by }),
  deaths: 0,
  approvals: {},
  left_ms: null,
  resumed: 0,
});

const cancelApprovalsOf = (turn: RunningTurn | null, id: string): ThreadEvent[] =>
  turn?.id === id ? cancelApprovals(turn) : [];

const withoutTurn = (state: OpenThread, id: string): ThreadState => ({
  ...state,
  newest: state.newest === id ? null : state.newest,
  before: state.before === id ? null : state.before,
  turn: state.turn?.id === id ? null : state.turn,
  open_calls: state.open_calls?.turn_id === id ? null : state.open_calls,
});

/** The state to which the first event of a thread is applied. */
const EMPTY_THREAD: OpenThread = {
  status: "open",
  scope: "",
  turn: null,
  newest: null,
  before: null,
  refused: [],
  open_calls: null,
};

export const thread: Decider<ThreadState, ThreadCommand, ThreadEvent> = {
  version: 8,
  initial: { status: "absent" },

  decide(command, state) {
    switch (command.type) {
      case "StartTurn":
        return startTurn(command, state);
      case "TakeOverTurn": {
        const { turn_id, attempt } = command.data;
        return findRunning(state, { turn_id, attempt: attempt - 1 }) ? [TurnTakenOver.of(command.data)] : [];
      }
      case "RequestRound": {
        const { turn_id, attempt, round, usage, model, ...output } = command.data;
        const data = { turn_id, attempt, round, usage, ...(model !== undefined && { model }) };
        return findRunning(state, command.data) ? [RoundRequested.of(data, output)] : [];
      }
      case "NoteTargetFailure":
        return findRunning(state, command.data) ? [TargetFailed.of(command.data)] : [];
      case "FinishTool": {
        const { output, sources, ...finished } = command.data;
        return findRunning(state, finished) ? [ToolFinished.of(finished, { output, sources })] : [];
      }
      case "StartTool":
        return findRunning(state, command.data) ? [ToolStarted.of(command.data)] : [];
      case "ParkTurn":
        return parkTurn(command, state);
      case "DecideToolApproval":
        return decideToolApproval(command, state);
      case "ExpireToolApprovals":
        return expireToolApprovals(command, state);
      case "CompleteTurn":
      case "FailTurn":
      case "StopTurn":
      case "RefuseTurn":
        return endTurn(command, state);
      case "DeleteTurn":
        if (state.status !== "open" || state.scope !== command.data.scope) throw threadNotFound();
        return [
          ...cancelApprovalsOf(state.turn, command.data.turn_id),
          TurnDeleted.of({ turn_id: command.data.turn_id }),
        ];
      case "DeleteThread":
        if (state.status !== "open" || state.scope !== command.data.scope) throw threadNotFound();
        return [...cancelApprovals(state.turn), ThreadDeleted.of({})];
    }
  },

  evolve(state, event) {
    const open = state.status === "open" ? state : EMPTY_THREAD;
    const { refused, open_calls } = open;
    switch (event.type) {
      case "TurnStarted": {
        return {
          status: "open",
          scope: event.data.scope,
          turn: startedTurn(event.data),
          newest: event.data.turn_id,
          before: open.newest,
          refused,
          open_calls,
        };
      }
      case "TurnTakenOver":
      case "ToolApprovalRequested":
      case "TurnParked":
      case "ToolApprovalDecided":
      case "ToolApprovalExpired":
      case "ToolApprovalCancelled":
      case "TurnResumed":
        return state.status === "open" && state.turn ? { ...state, turn: evolveTurn(state.turn, event) } : state;
      case "RoundRequested":
      case "TargetFailed":
      case "ToolFinished":
      case "ToolStarted":
        return state;
      case "TurnCompleted": {
        const { turn_id, open_calls: ids } = event.data;
        return { ...open, turn: null, open_calls: ids ? { turn_id, ids } : null };
      }
      case "TurnFailed":
      case "TurnStopped":
        return { ...open, turn: null };
      case "TurnRefused":
        return {
          ...open,
          turn: null,
          newest: open.before,
          before: null,
          refused: [...refused, event.data.turn_id].slice(-MAX_REFUSED_TURNS),
        };
      case "TurnDeleted":
        // the result of a worker that still runs the turn will be ignored
        return state.status === "open" ? withoutTurn(state, event.data.turn_id) : state;
      case "ThreadDeleted":
        return { status: "deleted" };
    }
  },

  workStatus,

  erases: (events, stream) => ({
    things: events.flatMap((event) =>
      event.type === "TurnRefused" || event.type === "TurnDeleted" ? [streamName("turn", event.data.turn_id)] : [],
    ),
    streams: events.some((event) => event.type === "ThreadDeleted") ? [stream] : [],
  }),

  // A refused turn leaves no trace: the same request may be sent again with its idempotency key.
  forgets: (events, state) =>
    state.status === "open" && state.turn && events.some((event) => event.type === "TurnRefused")
      ? [state.turn.command_id]
      : [],
};
