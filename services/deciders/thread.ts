import type { Decider } from "#events/decider.ts";
import { streamOf } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import {
  RoundRequested,
  ThreadDeleted,
  ToolFinished,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStarted,
  TurnStopped,
  TurnTakenOver,
  type ThreadCommand,
  type ThreadEvent,
} from "#events/thread.ts";
import type { CommandFrom } from "#events/envelope.ts";
import type { StartTurn } from "#events/thread.ts";

/** The one turn in flight. */
interface RunningTurn {
  id: string;
  attempt: number;
  worker: string | null;
  model: string;
  ends_by: string;
  command_id: string;
  /** It is a response of an agent: once begun it is never as if it had not been asked. */
  of_agent: boolean;
}

export type ThreadState =
  | { status: "absent" }
  | { status: "open"; scope: string; turn: RunningTurn | null; refused: string[] }
  | { status: "deleted" };

/** Refused turns that a thread remembers; a message comes again within seconds. */
const REMEMBERED = 50;

const notFound = () =>
  new Rejection("thread_not_found", "No such thread for this key and user.", { param: "x-thread-id" });

function startTurn(command: CommandFrom<typeof StartTurn>, state: ThreadState): ThreadEvent[] {
  const { input, continues, ...started } = command.data;
  if (state.status === "deleted") throw notFound();
  if (continues && state.status === "absent") throw notFound();
  if (state.status === "open") {
    if (state.scope !== started.scope) throw notFound();
    if (state.turn)
      throw new Rejection("thread_busy", "Another turn of this thread is still running.", { retryable: true });
    // The outcome of its command is forgotten, so a message that comes again would begin it again, under another data key.
    if (state.refused.includes(command.data.turn_id))
      throw new Rejection("unavailable", "This turn was refused; the request may be sent again.", { retryable: true });
  }
  return [TurnStarted.of({ ...started, worker: command.worker ?? null, command_id: command.id }, { input })];
}

/** The turn that a result is for; a result of another turn or of an older attempt comes too late and changes nothing. */
function current(state: ThreadState, data: { turn_id: string; attempt: number }): RunningTurn | undefined {
  const turn = state.status === "open" ? state.turn : null;
  return turn?.id === data.turn_id && turn.attempt === data.attempt ? turn : undefined;
}

export const thread: Decider<ThreadState, ThreadCommand, ThreadEvent> = {
  version: 3,
  initial: { status: "absent" },

  decide(command, state) {
    switch (command.type) {
      case "StartTurn":
        return startTurn(command, state);
      case "TakeOverTurn": {
        const { turn_id, attempt, worker } = command.data;
        return current(state, { turn_id, attempt: attempt - 1 })
          ? [TurnTakenOver.of({ turn_id, attempt, worker })]
          : [];
      }
      case "RequestRound": {
        const { turn_id, attempt, round, usage, ...asked } = command.data;
        return current(state, command.data) ? [RoundRequested.of({ turn_id, attempt, round, usage }, asked)] : [];
      }
      case "FinishTool": {
        const { output, sources, ...finished } = command.data;
        return current(state, finished) ? [ToolFinished.of(finished, { output, sources })] : [];
      }
      case "CompleteTurn": {
        const turn = current(state, command.data);
        const { said, ...data } = command.data;
        return turn ? [TurnCompleted.of({ ...data, model: turn.model }, { said })] : [];
      }
      case "FailTurn": {
        const turn = current(state, command.data);
        const { said, message, ...data } = command.data;
        return turn ? [TurnFailed.of({ ...data, model: turn.model }, { said, message })] : [];
      }
      case "StopTurn": {
        const turn = current(state, command.data);
        const { said, ...data } = command.data;
        return turn ? [TurnStopped.of({ ...data, model: turn.model }, { said })] : [];
      }
      case "RefuseTurn": {
        const { turn_id, attempt, code } = command.data;
        return current(state, command.data) ? [TurnRefused.of({ turn_id, attempt, code })] : [];
      }
      case "DeleteTurn":
        if (state.status !== "open" || state.scope !== command.data.scope) throw notFound();
        return [TurnDeleted.of({ turn_id: command.data.turn_id })];
      case "DeleteThread":
        if (state.status !== "open" || state.scope !== command.data.scope) throw notFound();
        return [ThreadDeleted.of({})];
    }
  },

  evolve(state, event) {
    const { scope, refused } = state.status === "open" ? state : { scope: "", refused: [] };
    switch (event.type) {
      case "TurnStarted": {
        const { turn_id, worker, model, ends_by, command_id, agent } = event.data;
        return {
          status: "open",
          scope: event.data.scope,
          turn: { id: turn_id, attempt: 1, worker, model, ends_by, command_id, of_agent: agent !== undefined },
          refused,
        };
      }
      case "TurnTakenOver":
        if (state.status !== "open" || !state.turn) return state;
        return { ...state, turn: { ...state.turn, attempt: event.data.attempt, worker: event.data.worker } };
      case "RoundRequested":
      case "ToolFinished":
        return state;
      case "TurnCompleted":
      case "TurnFailed":
      case "TurnStopped":
        return { status: "open", scope, turn: null, refused };
      case "TurnRefused":
        return { status: "open", scope, turn: null, refused: [...refused, event.data.turn_id].slice(-REMEMBERED) };
      case "TurnDeleted":
        // whoever still works on it comes too late with its end
        return state.status === "open" && state.turn?.id === event.data.turn_id ? { ...state, turn: null } : state;
      case "ThreadDeleted":
        return { status: "deleted" };
    }
  },

  head: (state) =>
    state.status === "open" && state.turn
      ? { status: "running", due_at: state.turn.ends_by, worker: state.turn.worker }
      : { status: null, due_at: null, worker: null },

  erases: (events, stream) => ({
    things: events.flatMap((event) =>
      event.type === "TurnRefused" || event.type === "TurnDeleted" ? [streamOf("turn", event.data.turn_id)] : [],
    ),
    streams: events.some((event) => event.type === "ThreadDeleted") ? [stream] : [],
  }),

  // A refused turn did not happen: the same request may be tried again under its idempotency key.
  forgets: (events, state) =>
    state.status === "open" && state.turn && events.some((event) => event.type === "TurnRefused")
      ? [state.turn.command_id]
      : [],
};
