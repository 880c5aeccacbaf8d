import { memoKey, type CallKind } from "#services/workflows/memoKey.ts";
import type { MemoEntry } from "#services/workflows/tick.ts";

/** Strings are counted as if each of their units had two bytes, and what holds them. */
const bytesOf = (text: string): number => 2 * text.length + 64;

/** What is known of a run, as `run()` is answered with it. */
export interface History {
  /** JSON of what a call came to, or of why it failed, by the call's key. */
  answers: Map<string, MemoEntry["value"]>;
  /** Keys of calls that were made before, by what was said in them: hashing takes longer than all else of a call. */
  keys: Map<string, string>;
  /** Keys of lists of items, likewise. */
  lists: Map<string, string[]>;
  bytes: number;
}

export const newHistory = (): History => ({ answers: new Map(), keys: new Map(), lists: new Map(), bytes: 0 });

export function remember(history: History, entries: MemoEntry[]): void {
  for (const { key, value } of entries) {
    history.answers.set(key, value);
    history.bytes += bytesOf(key) + ("json" in value ? bytesOf(value.json) : bytesOf(value.error.message) + 64);
  }
}

/** The key of a call; `args` is JSON. */
export function keyOf(history: History, kind: CallKind, name: string, userKey: string | null, args: string): string {
  const call = JSON.stringify([kind, name, userKey]) + args;
  const known = history.keys.get(call);
  if (known !== undefined) return known;
  const key = memoKey(kind, name, userKey, args);
  history.keys.set(call, key);
  history.bytes += bytesOf(call) + bytesOf(key);
  return key;
}

/** Keys of the items of a list, in order; `items` is JSON. */
export function keysOf(history: History, name: string, userKey: string | null, items: string): string[] {
  const call = JSON.stringify([name, userKey]) + items;
  const known = history.lists.get(call);
  if (known) return known;
  const list = (JSON.parse(items) as unknown[]).map((item) =>
    memoKey("many-item", name, userKey, JSON.stringify(item)),
  );
  history.lists.set(call, list);
  history.bytes += bytesOf(call) + list.length * 100;
  return list;
}
