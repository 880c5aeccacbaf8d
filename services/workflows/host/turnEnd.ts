import type { RecordedEvent } from "#events/envelope.ts";
import type { TurnEnd } from "#events/ports.ts";
import { NO_OUTPUT, NO_USAGE, type ThreadEvent } from "#events/thread.ts";

const DELETED: TurnEnd = { status: "failed", said: NO_OUTPUT, usage: NO_USAGE, message: "The turn was deleted." };

/** Messages for refused turns by code. The provider's own message is not in the log. */
const REFUSALS: Record<string, string> = {
  budget_exceeded: "A budget has no room for the turn: GET /api/limits says which one and when it begins again.",
  budget_reserved: "What is left of a budget is held for turns that run now: try again when they have ended.",
  model_not_found: "The model provider has no such model.",
  unavailable: "The service was temporarily unavailable; try again shortly.",
};
const refusalMessage = (code: string | null): string =>
  REFUSALS[code ?? ""] ?? "The model provider refused the request.";

/** The end of a turn, from its thread's events; undefined while it runs. */
export function findTurnEnd(events: RecordedEvent[], turn_id: string): TurnEnd | undefined {
  for (const event of events.toReversed() as unknown as ThreadEvent[]) {
    if (event.type === "ThreadDeleted") return DELETED;
    if (event.data.turn_id !== turn_id) continue;
    switch (event.type) {
      case "TurnCompleted": {
        const { finish_reason, usage, model, usage_by_model } = event.data;
        const target = usage_by_model && { model };
        // Deleting the turn erases its output.
        return event.personal
          ? { status: "completed", said: event.personal.said, finish_reason, usage, ...target }
          : DELETED;
      }
      case "TurnFailed":
      case "TurnStopped": {
        const message = event.type === "TurnFailed" ? event.personal?.message : undefined;
        const said = event.personal?.said ?? NO_OUTPUT;
        return { status: "failed", said, usage: event.data.usage, message: message ?? "The turn was stopped." };
      }
      case "TurnRefused":
        return {
          status: "refused",
          code: event.data.code,
          message: event.data.limit ?? refusalMessage(event.data.code),
        };
      case "TurnDeleted":
        return DELETED;
      case "TurnStarted":
      case "TurnTakenOver":
      case "TargetFailed":
      case "RoundRequested":
      case "ToolFinished":
      case "ToolStarted":
      case "ToolApprovalRequested":
      case "ToolApprovalDecided":
      case "ToolApprovalExpired":
      case "ToolApprovalCancelled":
      case "TurnParked":
      case "TurnResumed":
        return undefined;
    }
  }
  return undefined;
}
