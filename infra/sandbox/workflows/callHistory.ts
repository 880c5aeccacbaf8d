import { memoKey, type CallKind } from "#services/workflows/memoKey.ts";
import type { MemoEntry } from "#services/workflows/tick.ts";

/** Estimated memory of a string: two bytes a unit, and its entry in a map. */
const bytesOf = (text: string): number => 2 * text.length + 100;

/** A call that `run()` has made, or that is in its memo. */
export interface Call {
  key: string;
  /** Its result; undefined while outstanding. */
  value: MemoEntry["value"] | undefined;
  /** The rank of its result among all results of the run, in log order; 0 while outstanding. */
  order: number;
  /** Number of the last tick that made it. */
  lastTick: number;
}

/** The calls of a run and their results. */
export interface CallHistory {
  calls: Map<string, Call>;
  /** Calls, and lists of calls, by the text of a known request, because computing the call key is the most expensive part of a call. */
  callByRequest: Map<string, Call>;
  callsByRequest: Map<string, Call[]>;
  /** Number of calls with a result. */
  answered: number;
  ticks: number;
  bytes: number;
}

export const newCallHistory = (): CallHistory => ({
  calls: new Map(),
  callByRequest: new Map(),
  callsByRequest: new Map(),
  answered: 0,
  ticks: 0,
  bytes: 0,
});

function findOrAdd(history: CallHistory, key: string): Call {
  const known = history.calls.get(key);
  if (known) return known;
  const call = { key, value: undefined, order: 0, lastTick: 0 };
  history.calls.set(key, call);
  history.bytes += bytesOf(key);
  return call;
}

/** Adds results to their calls, in the order in which the log has them. */
export function addMemoEntries(history: CallHistory, entries: readonly MemoEntry[]): void {
  for (const { key, value } of entries) {
    const call = findOrAdd(history, key);
    if (!call.value) call.order = history.answered += 1;
    call.value = value;
    history.bytes += bytesOf("json" in value ? value.json : value.error.message);
  }
}

export interface CallRequest {
  kind: CallKind;
  name: string;
  userKey: string | null;
  /** JSON. */
  args: string;
  /** The request as text, which is the key of the cache. */
  request: string;
}

/** The call with this structure. */
export function findCall(history: CallHistory, { kind, name, userKey, args, request }: CallRequest): Call {
  const call = findOrAdd(history, memoKey(kind, name, userKey, args));
  history.callByRequest.set(request, call);
  history.bytes += bytesOf(request);
  return call;
}

/** The calls of the items of a runStepMany, in order. */
export function findItemCalls(
  history: CallHistory,
  { name, userKey, items, request }: { name: string; userKey: string | null; items: unknown[]; request: string },
): Call[] {
  const calls = items.map((item) => findOrAdd(history, memoKey("many-item", name, userKey, JSON.stringify(item))));
  history.callsByRequest.set(request, calls);
  history.bytes += bytesOf(request) + 16 * calls.length;
  return calls;
}
