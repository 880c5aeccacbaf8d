import { useSyncExternalStore } from "react";

const TICK_MS = 10_000;

let now = Date.now();
const listeners = new Set<() => void>();
let timer = 0;

/** One timer for all times on the page. */
function subscribe(listener: () => void): () => void {
  if (!timer) now = Date.now();
  listeners.add(listener);
  timer ||= window.setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = 0;
  };
}

/** The current time in epoch milliseconds, updated every ten seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
