import type { PendingStep } from "#services/workflows/tick.ts";
import { answerMany, answerStep, type Answer } from "./callAnswers.ts";
import { findItemCalls, type Call } from "./callHistory.ts";
import { checkLabel, InvalidOption } from "./callOptions.ts";
import { checkFits, MAX_ARGS, MAX_ITEMS, MAX_KEY } from "./limits.ts";
import type { SpeculatedStep } from "./messages.ts";
import { parseStepRequest, type StepRequest } from "./stepRequest.ts";
import { countCall, countRequest, findOrAddCall, hasUsedAllResults, newValues, type TickState } from "./tickState.ts";

/** Runs a step within the tick; undefined if it cannot. */
export type Speculate = (step: PendingStep) => Pick<SpeculatedStep, "order" | "result"> | undefined;

/** The answer to a request that an earlier tick made with the same text; undefined if it is unknown or has no result. */
export function findAnswer(state: TickState, request: string): Answer {
  const { callByRequest, callsByRequest } = state.history;
  const call = callByRequest.get(request);
  if (call) {
    if (!call.value) return undefined;
    countCall(state, call);
    return answerStep(call, request.startsWith("step:return") ? "return" : "fail");
  }
  const calls = callsByRequest.get(request);
  const answer = calls && answerMany(calls, request.startsWith("many:return") ? "return" : "fail");
  if (answer !== undefined) for (const each of calls!) countCall(state, each);
  return answer;
}

/** Runs a step within the tick if `run()` waits for nothing else. Its result is then what the next tick would start with. */
function speculateStep(state: TickState, call: Call, { name, json, mode }: StepRequest, speculate: Speculate): void {
  if (state.outstanding > 0 || !hasUsedAllResults(state) || state.ended !== undefined) return;
  const step = { key: call.key, name, args: json };
  const ran = speculate(step);
  if (!ran) return;
  const outcome: SpeculatedStep["outcome"] = {
    end: { type: "suspended" },
    pending: [{ kind: "steps", steps: [step], concurrency: null, on_error: mode }],
    unusedKeys: [],
    notes: newValues(state),
    warnings: [],
    logs: state.logs.lines.slice(state.speculatedLines),
  };
  state.speculatedLines = state.logs.lines.length;
  state.speculatedValues = state.fixedValues.size;
  state.speculated.push({ outcome, key: call.key, ...ran, call });
  call.value = { json: ran.result.json };
  state.history.answered += 1;
}

function callStep(state: TickState, request: StepRequest, speculate: Speculate | undefined): Answer {
  const { text, mode, name, userKey, json } = request;
  checkFits(`The arguments of the step "${name}"`, json, MAX_ARGS);
  const call = findOrAddCall(state, { kind: "step", name, userKey, args: json, request: text });
  if (!call.value && speculate) speculateStep(state, call, request, speculate);
  if (countCall(state, call) && !call.value) {
    const steps = [{ key: call.key, name, args: json }];
    state.requested.push({ kind: "steps", steps, concurrency: null, on_error: mode });
  }
  return answerStep(call, mode);
}

function callItems(state: TickState, request: StepRequest, concurrency: number): Answer {
  const { text, mode, name, userKey, json } = request;
  const what = `The items of the step "${name}"`;
  checkFits(what, json, MAX_ITEMS * MAX_ARGS);
  const items = JSON.parse(json) as unknown[];
  if (items.length > MAX_ITEMS) throw new InvalidOption(`${what}: more than ${MAX_ITEMS}.`);
  const args = items.map((item) => checkFits(what, JSON.stringify(item), MAX_ARGS));
  const calls =
    state.history.callsByRequest.get(text) ??
    findItemCalls(state.history, { name, userKey, items, request: countRequest(state, text) });
  const steps = calls.flatMap((call, n) =>
    countCall(state, call) && !call.value ? [{ key: call.key, name, args: args[n]! }] : [],
  );
  if (steps.length > 0) state.requested.push({ kind: "steps", steps, concurrency, on_error: mode });
  return answerMany(calls, mode);
}

/** Answers a request of runStep or runStepMany. Throws InvalidOption. */
export function requestSteps(state: TickState, text: string, concurrency: number, speculate?: Speculate): Answer {
  const request = parseStepRequest(text);
  if (request.userKey !== null) checkLabel("key", request.userKey, MAX_KEY, 0);
  return request.isMany ? callItems(state, request, concurrency) : callStep(state, request, speculate);
}
