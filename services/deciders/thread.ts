import type { Decider } from "#events/decider.ts";
import { streamName } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import {
  RoundRequested,
  TargetFailed,
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
  /** Whether it is a response of an agent. A response that has started stays in its thread, even if it is refused. */
  of_agent: boolean;
  /** Workers that died while they had it. */
  deaths: number;
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
      refused: string[];
      /** A turn that fails leaves them open, so its results may be sent again. */
      open_calls: OpenCalls | null;
    }
  | { status: "deleted" };

/** Refused turns that a thread remembers, to recognize a redelivered StartTurn. Redelivery takes seconds. */
const MAX_REFUSED_TURNS = 50;

const notFound = () =>
  new Rejection("thread_not_found", "No such thread for this key and user.", { param: "x-thread-id" });

/** The results of a turn must be those of all open calls: each call gets exactly one result (spec leaves it open). */
function checkAnswers({ answers = [], agent }: CommandFrom<typeof StartTurn>["data"], open: string[]): void {
  if (answers.length === 0) return;
  const refuse = (message: string) => {
    throw new Rejection("invalid_tool_result", message, { param: agent ? "input" : "messages" });
  };
  const unknown = answers.find((id) => !open.includes(id));
  if (unknown !== undefined)
    refuse(
      `There is no open call ${JSON.stringify(unknown)} in this thread: it does not exist, has its result already, or the thread went on without one.`,
    );
  const missing = open.filter((id) => !answers.includes(id));
  if (missing.length > 0)
    refuse(
      `The results of all calls come together; there is none for ${missing.map((id) => JSON.stringify(id)).join(", ")}.`,
    );
}

function startTurn(command: CommandFrom<typeof StartTurn>, state: ThreadState): ThreadEvent[] {
  const { input, continues, ...settings } = command.data;
  if (state.status === "deleted") throw notFound();
  if (continues && state.status === "absent") throw notFound();
  if (state.status === "open") {
    if (state.scope !== settings.scope) throw notFound();
    if (state.turn)
      throw new Rejection("thread_busy", "Another turn of this thread is still running.", { retryable: true });
    // The outcome of its command was deleted, so a redelivered command would start the turn again, under another data key.
    if (state.refused.includes(command.data.turn_id))
      throw new Rejection("unavailable", "This turn was refused; the request may be sent again.", { retryable: true });
  }
  checkAnswers(command.data, (state.status === "open" && state.open_calls?.ids) || []);
  return [TurnStarted.of({ ...settings, worker: command.worker ?? null, command_id: command.id }, { input })];
}

/** The running turn, if a result belongs to its current attempt. Results of other turns and older attempts change nothing. */
function findCurrent(state: ThreadState, data: { turn_id: string; attempt: number }): RunningTurn | undefined {
  const turn = state.status === "open" ? state.turn : null;
  return turn?.id === data.turn_id && turn.attempt === data.attempt ? turn : undefined;
}

const takenOver = (
  turn: RunningTurn,
  { attempt, worker, worker_died }: Extract<ThreadEvent, { type: "TurnTakenOver" }>["data"],
): RunningTurn => ({ ...turn, attempt, worker, deaths: turn.deaths + (worker_died ? 1 : 0) });

const withoutTurn = (state: Extract<ThreadState, { status: "open" }>, id: string): ThreadState => ({
  ...state,
  turn: state.turn?.id === id ? null : state.turn,
  open_calls: state.open_calls?.turn_id === id ? null : state.open_calls,
});

export const thread: Decider<ThreadState, ThreadCommand, ThreadEvent> = {
  version: 5,
  initial: { status: "absent" },

  decide(command, state) {
    switch (command.type) {
      case "StartTurn":
        return startTurn(command, state);
      case "TakeOverTurn": {
        const { turn_id, attempt } = command.data;
        return findCurrent(state, { turn_id, attempt: attempt - 1 }) ? [TurnTakenOver.of(command.data)] : [];
      }
      case "RequestRound": {
        const { turn_id, attempt, round, usage, model, ...asked } = command.data;
        const data = { turn_id, attempt, round, usage, ...(model !== undefined && { model }) };
        return findCurrent(state, command.data) ? [RoundRequested.of(data, asked)] : [];
      }
      case "NoteTargetFailure":
        return findCurrent(state, command.data) ? [TargetFailed.of(command.data)] : [];
      case "FinishTool": {
        const { output, sources, ...finished } = command.data;
        return findCurrent(state, finished) ? [ToolFinished.of(finished, { output, sources })] : [];
      }
      case "CompleteTurn": {
        const turn = findCurrent(state, command.data);
        const { said, ...data } = command.data;
        const open_calls = said.calls?.map(({ id }) => id);
        return turn
          ? [
              TurnCompleted.of(
                { ...data, model: data.model ?? turn.model, ...(open_calls && { open_calls }) },
                { said },
              ),
            ]
          : [];
      }
      case "FailTurn": {
        const turn = findCurrent(state, command.data);
        const { said, message, ...data } = command.data;
        return turn ? [TurnFailed.of({ ...data, model: data.model ?? turn.model }, { said, message })] : [];
      }
      case "StopTurn": {
        const turn = findCurrent(state, command.data);
        const { said, ...data } = command.data;
        return turn ? [TurnStopped.of({ ...data, model: data.model ?? turn.model }, { said })] : [];
      }
      case "RefuseTurn": {
        const { turn_id, attempt, code } = command.data;
        return findCurrent(state, command.data) ? [TurnRefused.of({ turn_id, attempt, code })] : [];
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
    const { scope, refused, open_calls } =
      state.status === "open" ? state : { scope: "", refused: [], open_calls: null };
    switch (event.type) {
      case "TurnStarted": {
        const { turn_id, worker, model, ends_by, command_id, agent } = event.data;
        return {
          status: "open",
          scope: event.data.scope,
          turn: {
            id: turn_id,
            attempt: 1,
            worker,
            model,
            ends_by,
            command_id,
            of_agent: agent !== undefined,
            deaths: 0,
          },
          refused,
          open_calls,
        };
      }
      case "TurnTakenOver":
        if (state.status !== "open" || !state.turn) return state;
        return { ...state, turn: takenOver(state.turn, event.data) };
      case "RoundRequested":
      case "TargetFailed":
      case "ToolFinished":
        return state;
      case "TurnCompleted": {
        const { turn_id, open_calls: ids } = event.data;
        return { status: "open", scope, turn: null, refused, open_calls: ids ? { turn_id, ids } : null };
      }
      case "TurnFailed":
      case "TurnStopped":
        return { status: "open", scope, turn: null, refused, open_calls };
      case "TurnRefused":
        return {
          status: "open",
          scope,
          turn: null,
          refused: [...refused, event.data.turn_id].slice(-MAX_REFUSED_TURNS),
          open_calls,
        };
      case "TurnDeleted":
        // a worker that still runs the turn will find its result ignored
        return state.status === "open" ? withoutTurn(state, event.data.turn_id) : state;
      case "ThreadDeleted":
        return { status: "deleted" };
    }
  },

  workStatus: (state) =>
    state.status === "open" && state.turn
      ? { status: "running", due_at: state.turn.ends_by, worker: state.turn.worker }
      : { status: null, due_at: null, worker: null },

  erases: (events, stream) => ({
    things: events.flatMap((event) =>
      event.type === "TurnRefused" || event.type === "TurnDeleted" ? [streamName("turn", event.data.turn_id)] : [],
    ),
    streams: events.some((event) => event.type === "ThreadDeleted") ? [stream] : [],
  }),

  // A refused turn leaves no trace: the same request may be tried again under its idempotency key.
  forgets: (events, state) =>
    state.status === "open" && state.turn && events.some((event) => event.type === "TurnRefused")
      ? [state.turn.command_id]
      : [],
};
