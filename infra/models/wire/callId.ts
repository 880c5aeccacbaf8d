import { createHash, randomUUID } from "node:crypto";
import type { ToolCall } from "#events/thread.ts";

/** Maximum characters. Longer ids are refused in results sent by callers. */
const MAX_ID_LENGTH = 256;

/** Makes the id of a call acceptable to the provider, which may refuse ids of another provider or of the caller. Equal ids become equal. */
export const fitCallId = (id: string, accepted: RegExp): string =>
  accepted.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;

/** Gives every call of an answer a unique id, because results refer to calls by id only. Some servers give all calls the same id, or none. */
export function distinguishCalls(calls: ToolCall[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const isUsable = call.id !== "" && call.id.length <= MAX_ID_LENGTH && !taken.has(call.id);
    taken.add(call.id);
    return isUsable ? call : { ...call, id: `call_${randomUUID()}` };
  });
}
