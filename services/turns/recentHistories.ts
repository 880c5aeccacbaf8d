import type { ThreadMessage } from "./threadMessage.ts";

/** The turns of a thread that came before a version of it, newest first. */
export interface RecentHistory {
  version: number;
  turns: ThreadMessage[][];
  /** Characters of text. */
  size: number;
}

/** Characters of all histories together. */
const MAX_SIZE = 8_000_000;
/** What a thread that rests, or was deleted by another process, may stay in memory. */
const MAX_IDLE_MS = 60_000;
const SWEEP_MS = 10_000;

/**
 * Histories of the threads whose turns this process has run lately: the next turn reads only what is new. The log remains the source, a
 * history that is missing is read from it.
 */
export function createRecentHistories() {
  const histories = new Map<string, RecentHistory & { usedAt: number }>();
  let size = 0;
  let sweeping: NodeJS.Timeout | undefined;

  function remove(thread: string): void {
    size -= histories.get(thread)?.size ?? 0;
    histories.delete(thread);
    if (histories.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  }

  function sweep(): void {
    const limit = performance.now() - MAX_IDLE_MS;
    for (const [thread, { usedAt }] of histories) if (usedAt < limit) remove(thread);
  }

  return {
    find: (thread: string): RecentHistory | undefined => histories.get(thread),
    remove,
    put(thread: string, history: RecentHistory): void {
      remove(thread);
      if (history.size > MAX_SIZE) return;
      histories.set(thread, { ...history, usedAt: performance.now() });
      size += history.size;
      // the one used longest ago is the first
      while (size > MAX_SIZE) remove(histories.keys().next().value!);
      sweeping ??= setInterval(sweep, SWEEP_MS).unref();
    },
  };
}
export type RecentHistories = ReturnType<typeof createRecentHistories>;
