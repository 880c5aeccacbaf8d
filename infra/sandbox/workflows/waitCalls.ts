import { answerOrThrow, type Answer } from "./callAnswers.ts";
import { checkLabel, InvalidOption, parseApprovalOptions, parseDuration, parseTime } from "./callOptions.ts";
import { checkFits, MAX_ARGS, MAX_FIXED_VALUES } from "./limits.ts";
import { countCall, findOrAddCall, type TickState } from "./tickState.ts";

const requestText = (kind: string, name: string, userKey: string | null, json: string): string =>
  `${kind}:${JSON.stringify([name, userKey])}${json}`;

/** Answers a call of awaitApproval. Throws InvalidOption. */
export function requestApproval(state: TickState, name: string, json: string, userKey: string | null): Answer {
  checkLabel("awaitApproval: the name", name);
  checkFits("The options of awaitApproval", json, MAX_ARGS);
  const request = requestText("approval", name, userKey, json);
  const call = findOrAddCall(state, { kind: "approval", name, userKey, args: json, request });
  if (call.value) countCall(state, call);
  else {
    const options = parseApprovalOptions(name, JSON.parse(json));
    if (countCall(state, call)) state.requested.push({ kind: "approval", key: call.key, name, options });
  }
  return answerOrThrow(call);
}

export function requestTimer(
  state: TickState,
  name: "sleep" | "sleepUntil",
  json: string,
  userKey: string | null,
): Answer {
  const value: unknown = JSON.parse(json);
  const until = name === "sleep" ? { in_ms: parseDuration(name, value) } : { at: parseTime(name, value) };
  const request = requestText("timer", name, userKey, json);
  const call = findOrAddCall(state, { kind: "timer", name, userKey, args: JSON.stringify(until), request });
  if (countCall(state, call) && !call.value) state.requested.push({ kind: "timer", key: call.key, until });
  return answerOrThrow(call);
}

/** The time of the first tick that called now() with this label. Later ticks get the same time. */
export function fixTime(state: TickState, label: string): string {
  const request = requestText("value", checkLabel("now: the label", label), null, "");
  const call = findOrAddCall(state, { kind: "value", name: label, userKey: null, args: '"now"', request });
  const now = String(state.now);
  if (call.value) countCall(state, call);
  else state.fixedValues.set(call, now);
  if (state.fixedValues.size - state.speculatedValues > MAX_FIXED_VALUES)
    throw new InvalidOption(`now: more than ${MAX_FIXED_VALUES} labels.`);
  return answerOrThrow(call) ?? now;
}
