import { createHash, randomUUID } from "node:crypto";
import type { ToolCall } from "#events/thread.ts";

/** In characters. Longer ones are refused with the results that callers bring. */
const MAX_ID_LENGTH = 256;

/**
 * The id of a call as the provider accepts it. Another provider, or the caller in a conversation of its own, may have given one that
 * it refuses; the same id always becomes the same other one.
 */
export const fitCallId = (id: string, accepted: RegExp): string =>
  accepted.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;

/**
 * The calls of an answer, each with an id of its own: a result names its call by it alone. Some servers give the same id to all
 * calls of an answer, or none.
 */
export function distinguishCalls(calls: ToolCall[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const isUsable = call.id !== "" && call.id.length <= MAX_ID_LENGTH && !taken.has(call.id);
    taken.add(call.id);
    return isUsable ? call : { ...call, id: `call_${randomUUID()}` };
  });
}
