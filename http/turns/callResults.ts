import { ApiError } from "../base/errors.ts";
import type { InputMessage } from "./turnRequest.ts";

/** Maximum results per request, which keeps the command small. A round has at most 32 calls. */
const MAX_RESULTS = 64;
const MAX_ID_LENGTH = 256;

const refuse = (param: string, message: string) =>
  new ApiError("invalid_tool_result", `${param}: ${message}`, { param });

const quoteId = (id: string): string => JSON.stringify(id.slice(0, MAX_ID_LENGTH));
const missingCall = (id: string): string =>
  `there is no call ${quoteId(id)} before this result. ` +
  "Send the call before its result, or continue the thread that holds it.";

/** Ids of the calls whose results are at the end of the input. */
function lastResults(messages: InputMessage[]): Set<string> {
  const before = messages.findLastIndex(({ role }) => role !== "tool");
  return new Set(messages.slice(before + 1).flatMap(({ call_id }) => call_id ?? []));
}

/** Removes the calls from a message, and the whole message if nothing remains. */
const withoutCalls = ({ calls, ...message }: InputMessage): InputMessage[] =>
  calls && message.text === "" ? [] : [message];

/** In a whole conversation each result follows its call. Throws 400 `invalid_tool_result`. */
function checkConversation(messages: InputMessage[]): void {
  const called = new Set<string>();
  for (const { calls = [], call_id, param = "" } of messages) {
    for (const { id } of calls) called.add(id);
    if (call_id !== undefined && !called.has(call_id)) throw refuse(param, missingCall(call_id));
  }
}

/** A call has one result, which may be repeated but not changed. Throws 400 `invalid_tool_result`. */
function checkContradictions(messages: InputMessage[]): void {
  const results = new Map<string, string>();
  for (const { calls = [], call_id, text, param = "" } of messages) {
    // some providers reuse ids
    for (const { id } of calls) results.delete(id);
    if (call_id === undefined) continue;
    const earlier = results.get(call_id) ?? text;
    if (earlier !== text) throw refuse(param, `the call ${quoteId(call_id)} has another result before this one.`);
    results.set(call_id, text);
  }
}

/**
 * Checks the messages of a request with results of the caller's own tools. For a new thread, returns the whole conversation,
 * calls and results. A thread that continues holds its calls already, so they are removed, and `answers` has the ids of the calls
 * that the request answers. Throws 400 `invalid_tool_result`.
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
  const kept = messages.flatMap((message) => {
    if (message.call_id === undefined) return withoutCalls(message);
    return isAnswer(message.call_id) ? [message] : [];
  });
  const results = kept.filter(({ role }) => role === "tool");
  const answers = new Set<string>();
  for (const { call_id = "", param = "" } of results) {
    if (call_id.length > MAX_ID_LENGTH) throw refuse(param, missingCall(call_id));
    if (answers.add(call_id).size > MAX_RESULTS) throw refuse(param, `a turn takes at most ${MAX_RESULTS} results.`);
  }
  return { messages: kept, answers: [...answers] };
}
