import type { ThreadMessage } from "./threadMessage.ts";

/** The turns of a thread before a version of it, newest first. */
export interface RecentHistory {
  version: number;
  turns: ThreadMessage[][];
  /** Characters of text. */
  size: number;
}

/** Maximum characters of all histories together. */
const MAX_SIZE = 8_000_000;
/** An organization's share, so that its long threads do not push out those of others. */
const MAX_SIZE_OF_ORGANIZATION = MAX_SIZE / 4;
/** How long a thread stays in memory unused. It may have been deleted by another process. */
const MAX_IDLE_MS = 60_000;
const SWEEP_MS = 10_000;

interface KeptHistory extends RecentHistory {
  organization: string;
  usedAt: number;
}

/**
 * Caches the histories of threads whose turns this process ran recently, so that the next turn reads only what is new. A missing
 * one is read from the log.
 */
export function createRecentHistories() {
  /** The least recently used one comes first. */
  const histories = new Map<string, KeptHistory>();
  const sizes = new Map<string, number>();
  let size = 0;
  let sweeping: NodeJS.Timeout | undefined;

  function count(organization: string, change: number): void {
    size += change;
    const ofOrganization = (sizes.get(organization) ?? 0) + change;
    if (ofOrganization > 0) sizes.set(organization, ofOrganization);
    else sizes.delete(organization);
  }

  function remove(thread: string): void {
    const kept = histories.get(thread);
    if (!kept) return;
    count(kept.organization, -kept.size);
    histories.delete(thread);
    if (histories.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  }

  function removeOldestOf(organization: string): void {
    for (const [thread, kept] of histories) if (kept.organization === organization) return remove(thread);
  }

  function sweep(): void {
    const limit = performance.now() - MAX_IDLE_MS;
    for (const [thread, { usedAt }] of histories) if (usedAt < limit) remove(thread);
  }

  return {
    find: (thread: string): RecentHistory | undefined => histories.get(thread),
    remove,
    put(organization: string, thread: string, history: RecentHistory): void {
      remove(thread);
      if (history.size > MAX_SIZE_OF_ORGANIZATION) return;
      histories.set(thread, { ...history, organization, usedAt: performance.now() });
      count(organization, history.size);
      while ((sizes.get(organization) ?? 0) > MAX_SIZE_OF_ORGANIZATION) removeOldestOf(organization);
      while (size > MAX_SIZE) remove(histories.keys().next().value!);
      sweeping ??= setInterval(sweep, SWEEP_MS).unref();
    },
  };
}
export type RecentHistories = ReturnType<typeof createRecentHistories>;
