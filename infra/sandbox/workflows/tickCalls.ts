import { deriveId } from "#events/ids.ts";
import type { TickOutcome } from "#services/workflows/tick.ts";
import { errorAnswer, type Answer } from "./callAnswers.ts";
import { checkLabel, InvalidOption } from "./callOptions.ts";
import { placeInStack } from "../vm/thrown.ts";
import { checkFits, MAX_KEY, MAX_RESULT } from "./limits.ts";
import { checkNextArgs, requestAgentTurn, requestChildRun, requestMessageWait, requestRunWait } from "./linkCalls.ts";
import type { SpeculatedStep } from "./messages.ts";
import { findAnswer, requestSteps, type Speculate } from "./stepCalls.ts";
import { newTickState, newValues, unusedKeys, type NewTick, type TickState } from "./tickState.ts";
import { fixTime, requestApproval, requestTimer } from "./waitCalls.ts";

/** Answers a request of any call except those of steps. Throws InvalidOption. */
function answerRequest(state: TickState, what: string, name: string, json: string, key: string | undefined): Answer {
  const userKey = key === undefined ? null : checkLabel("key", key, MAX_KEY, 0);
  switch (what) {
    case "approval":
      return requestApproval(state, name, json, userKey);
    case "sleep":
    case "sleepUntil":
      return requestTimer(state, what, json, userKey);
    case "startRun":
      return requestChildRun(state, json, userKey);
    case "waitForRun":
      return requestRunWait(state, json, userKey);
    case "waitForEvent":
      return requestMessageWait(state, json, userKey);
    case "agent":
      return requestAgentTurn(state, json, userKey);
    case "now":
      return fixTime(state, name);
    case "uuid":
      return JSON.stringify(deriveId("uuid", state.run_id, checkLabel("uuid: the label", name)));
    case "complete":
      state.ended ??= {
        type: "completed",
        completion: "explicit",
        json: checkFits("The result of complete()", json, MAX_RESULT),
      };
      return "null";
    case "continueAs":
      state.ended ??= { type: "continued", args: checkNextArgs(json), ...placeInStack(name) };
      return "null";
    default:
      state.logs.add(name);
      return "null";
  }
}

/** Turns an invalid option into an error of the script. */
function answerOrError(answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    if (error instanceof InvalidOption) return errorAnswer({ message: error.message });
    throw error;
  }
}

/** Removes the speculated steps from the history. It gets their results again with the memo. */
function takeSpeculated({ history, speculated }: TickState): SpeculatedStep[] {
  for (const { call } of speculated) call.value = undefined;
  history.answered -= speculated.length;
  return speculated.map(({ call: _, ...step }) => step);
}

/** Answers the calls that `run()` makes in one tick. */
export function createTickCalls(tick: NewTick & { speculate?: Speculate }) {
  const state = newTickState(tick);
  const newCall = (answer: () => Answer): Answer => {
    state.lastOrder = 0;
    return answer();
  };
  return {
    findAnswer: (request: string): Answer => newCall(() => findAnswer(state, request)),
    requestSteps: (request: string, concurrency: number): Answer =>
      newCall(() => answerOrError(() => requestSteps(state, request, concurrency, tick.speculate))),
    request: (what: string, name: string, json: string, key: string | undefined): Answer =>
      what === "order"
        ? String(state.lastOrder)
        : newCall(() => answerOrError(() => answerRequest(state, what, name, json, key))),
    ended: () => state.ended,
    /** Whether `run()` cannot end yet: it has called complete() or continueAs(), or waits for a new call. */
    isOpen: (): boolean => state.requested.length > 0 || state.ended !== undefined,
    outcome: (): Pick<TickOutcome, "pending" | "unusedKeys" | "notes" | "logs"> => ({
      pending: state.requested,
      unusedKeys: unusedKeys(state),
      notes: newValues(state),
      logs: state.logs.lines,
    }),
    takeSpeculated: (): SpeculatedStep[] => takeSpeculated(state),
  };
}

export type TickCalls = ReturnType<typeof createTickCalls>;
