import type { CommandFrom } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import { TurnStarted, type StartTurn, type ThreadEvent } from "#events/thread.ts";
import { isParked, type RunningTurn, type ThreadState } from "./threadState.ts";

export const threadNotFound = () =>
  new Rejection("thread_not_found", "No such thread for this key and user.", { param: "x-thread-id" });

/** A turn must bring the results of all open calls, so that each call gets exactly one (the spec leaves it open). */
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

const describeBusy = (turn: RunningTurn): string =>
  isParked(turn)
    ? "The last turn of this thread waits for the approval of a tool call. Decide the approval, or cancel the response."
    : "Another turn of this thread is still running.";

/**
 * A thread's vars are merged before the command is sent, because they may be in a blob and the state holds nothing personal. If
 * another turn comes first, the merged vars are outdated, and the command is sent again.
 */
function checkFollows({ follows }: CommandFrom<typeof StartTurn>["data"], newest: string | null): void {
  if (follows !== undefined && newest !== null && follows !== newest)
    throw new Rejection("thread_changed", "Another turn of this thread came first; try again.", { retryable: true });
}

export function startTurn(command: CommandFrom<typeof StartTurn>, state: ThreadState): ThreadEvent[] {
  const { input, continues, follows: _, ...settings } = command.data;
  if (state.status === "deleted") throw threadNotFound();
  if (continues && state.status === "absent") throw threadNotFound();
  if (state.status === "open") {
    if (state.scope !== settings.scope) throw threadNotFound();
    if (state.turn) throw new Rejection("thread_busy", describeBusy(state.turn), { retryable: true });
    // The outcome of its command was deleted, so a redelivered command would start the turn again with another data key.
    if (state.refused.includes(command.data.turn_id))
      throw new Rejection("unavailable", "This turn was refused; the request may be sent again.", { retryable: true });
    checkFollows(command.data, state.newest);
  }
  checkAnswers(command.data, (state.status === "open" && state.open_calls?.ids) || []);
  return [TurnStarted.of({ ...settings, worker: command.worker ?? null, command_id: command.id }, { input })];
}
