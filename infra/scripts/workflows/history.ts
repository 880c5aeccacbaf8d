import { memoKey, type CallKind } from "#services/workflows/memoKey.ts";
import type { MemoEntry } from "#services/workflows/tick.ts";

/** Strings are counted as if each of their units had two bytes, and what holds them. */
const bytesOf = (text: string): number => 2 * text.length + 100;

/** A call of `run()`, wherever it stands. */
export interface Call {
  key: string;
  /** What it came to; undefined while it is outstanding. */
  value: MemoEntry["value"] | undefined;
  /** The last tick that asked for it. */
  asked: number;
}

/** What is known of a run, as `run()` is answered with it. */
export interface History {
  calls: Map<string, Call>;
  /** Calls and lists of items by the words in which they were made before: hashing takes longer than all else of a call. */
  said: Map<string, Call>;
  lists: Map<string, Call[]>;
  /** Calls that came to something. */
  known: number;
  ticks: number;
  bytes: number;
}

export const newHistory = (): History => ({
  calls: new Map(),
  said: new Map(),
  lists: new Map(),
  known: 0,
  ticks: 0,
  bytes: 0,
});

function callOf(history: History, key: string): Call {
  const known = history.calls.get(key);
  if (known) return known;
  const call = { key, value: undefined, asked: 0 };
  history.calls.set(key, call);
  history.bytes += bytesOf(key);
  return call;
}

export function remember(history: History, entries: readonly MemoEntry[]): void {
  for (const { key, value } of entries) {
    const call = callOf(history, key);
    if (!call.value) history.known += 1;
    call.value = value;
    history.bytes += bytesOf("json" in value ? value.json : value.error.message);
  }
}

/** The call by its structure; `args` is JSON. `said`: the words in which it was made, to know it by the next time. */
export function findCall(
  history: History,
  {
    kind,
    name,
    userKey,
    args,
    said,
  }: { kind: CallKind; name: string; userKey: string | null; args: string; said: string },
): Call {
  const call = callOf(history, memoKey(kind, name, userKey, args));
  history.said.set(said, call);
  history.bytes += bytesOf(said);
  return call;
}

/** Calls of the items of a list, in order; `items` is JSON. */
export function findItems(
  history: History,
  { name, userKey, items, said }: { name: string; userKey: string | null; items: unknown[]; said: string },
): Call[] {
  const calls = items.map((item) => callOf(history, memoKey("many-item", name, userKey, JSON.stringify(item))));
  history.lists.set(said, calls);
  history.bytes += bytesOf(said) + 16 * calls.length;
  return calls;
}
