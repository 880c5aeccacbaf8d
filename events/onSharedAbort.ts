const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` when a signal aborts that many wait for, such as that of a process that stops. A signal compares a new listener with
 * all that it has, so each of 2,000 streams would pay for all others. Does nothing if the signal has aborted before. Returns a
 * function that removes the listener. `act` must not throw.
 */
export function onSharedAbort(signal: AbortSignal, act: () => void): () => void {
  const listeners = listenersOf.get(signal) ?? listenOnce(signal);
  listeners.add(act);
  return () => void listeners.delete(act);
}

function listenOnce(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  const callAll = () => {
    for (const act of listeners) act();
  };
  listenersOf.set(signal, listeners);
  signal.addEventListener("abort", callAll, { once: true });
  return listeners;
}
