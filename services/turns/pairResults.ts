import type { ToolCall } from "#events/thread.ts";
import type { ThreadMessage } from "./threadMessage.ts";

/** The result that the model reads for a call whose result the caller never sent: providers refuse a call without one. */
const NO_RESULT = JSON.stringify({ error: "The caller went on without running this tool." });
const LOST_CALL = "The result of a tool call that is no longer part of this conversation:";

const missingResult = (call: ToolCall, turn_id: string): ThreadMessage => ({
  role: "tool",
  text: NO_RESULT,
  attachments: [],
  call_id: call.id,
  turn_id,
});

/** The messages after `at` that may hold results of its calls: up to the next message with calls. */
function findReplies(messages: ThreadMessage[], at: number): ThreadMessage[] {
  let next = at + 1;
  while (next < messages.length && messages[next]!.calls === undefined) next += 1;
  return messages.slice(at + 1, next);
}

/**
 * Moves the results of each message's calls right behind it, as providers require. If a result was sent twice, because a turn
 * failed, the later one replaces the earlier one and the answers to it.
 */
export function pairResults(messages: ThreadMessage[]): ThreadMessage[] {
  if (messages.every(({ role, calls }) => role !== "tool" && calls === undefined)) return messages;
  const paired: ThreadMessage[] = [];
  const known = new Set<string>();
  const replaced = new Set<ThreadMessage>();
  for (const [at, message] of messages.entries()) {
    const { role, calls, call_id, turn_id, text, attachments } = message;
    if (role === "tool") {
      if (!known.has(call_id!)) paired.push({ role: "user", text: `${LOST_CALL}\n${text}`, attachments, turn_id });
      continue;
    }
    if (replaced.has(message)) continue;
    paired.push(message);
    if (!calls) continue;
    const replies = findReplies(messages, at);
    const newestOf = new Map(replies.map(({ call_id: id }, n) => [id, n]));
    const answers = calls.map(({ id }) => newestOf.get(id) ?? -1);
    for (const [n, call] of calls.entries()) {
      known.add(call.id);
      paired.push(replies[answers[n]!] ?? missingResult(call, turn_id));
    }
    const newest = answers.reduce((most, answer) => Math.max(most, answer), 0);
    for (const reply of replies.slice(0, newest)) if (reply.role === "assistant") replaced.add(reply);
  }
  return paired;
}
