import { ApiError } from "../base/errors.ts";
import type { InputMessage } from "./turnRequest.ts";

/** A round has at most 32 calls, and the ids of providers are short: this keeps the command small. */
const MAX_RESULTS = 64;
const MAX_ID_LENGTH = 256;

const refuse = (param: string, message: string) =>
  new ApiError("invalid_tool_result", `${param}: ${message}`, { param });

const quoteId = (id: string): string => JSON.stringify(id.slice(0, MAX_ID_LENGTH));
const missingCall = (id: string): string =>
  `there is no call ${quoteId(id)} before this result. ` +
  "Send the call before its result, or continue the thread that holds it.";

/** Ids of calls whose results end the input. */
function lastResults(messages: InputMessage[]): Set<string> {
  const before = messages.findLastIndex(({ role }) => role !== "tool");
  return new Set(messages.slice(before + 1).flatMap(({ call_id }) => call_id ?? []));
}

/** Drops calls, and messages that hold nothing else. */
const withoutCalls = ({ calls, ...message }: InputMessage): InputMessage[] =>
  calls && message.text === "" ? [] : [message];

/** A whole conversation has the call of each result before it. Throws 400 `invalid_tool_result`. */
function checkConversation(messages: InputMessage[]): void {
  const called = new Set<string>();
  for (const { calls = [], call_id, param = "" } of messages) {
    for (const { id } of calls) called.add(id);
    if (call_id !== undefined && !called.has(call_id)) throw refuse(param, missingCall(call_id));
  }
}

/** A call has one result; the same one may come twice. Throws 400 `invalid_tool_result`. */
function checkContradictions(messages: InputMessage[]): void {
  const results = new Map<string, string>();
  for (const { calls = [], call_id, text, param = "" } of messages) {
    // some providers use ids again
    for (const { id } of calls) results.delete(id);
    if (call_id === undefined) continue;
    const earlier = results.get(call_id) ?? text;
    if (earlier !== text) throw refuse(param, `the call ${quoteId(call_id)} has another result before this one.`);
    results.set(call_id, text);
  }
}

/**
 * The messages of a request with results of the caller's own tools. A new thread gets the whole conversation, calls and
 * results. A thread that goes on has its calls already, so `answers` names those whose results the request brings.
 */
export function readResults(
  messages: InputMessage[],
  continues: boolean,
): { messages: InputMessage[]; answers: string[] } {
  checkContradictions(messages);
  if (!continues) {
    checkConversation(messages);
    return { messages, answers: [] };
  }
  const sent = new Set(messages.flatMap(({ calls = [] }) => calls.map(({ id }) => id)));
  const last = lastResults(messages);
  const isAnswer = (id: string) => last.has(id) || !sent.has(id);
  const kept = messages.flatMap((message) =>
    message.call_id === undefined ? withoutCalls(message) : isAnswer(message.call_id) ? [message] : [],
  );
  const results = kept.filter(({ role }) => role === "tool");
  const answers = new Set<string>();
  for (const { call_id = "", param = "" } of results) {
    if (call_id.length > MAX_ID_LENGTH) throw refuse(param, missingCall(call_id));
    if (answers.add(call_id).size > MAX_RESULTS) throw refuse(param, `a turn takes at most ${MAX_RESULTS} results.`);
  }
  return { messages: kept, answers: [...answers] };
}
