import { runOutsideRequest } from "../base/requestTime.ts";

/** Interval between polls without a hint. Hints only speed this up, and may be missed. */
const POLL_MS = 500;
/** Minimum interval between polls, because hundreds of commits per second may each give a hint. */
const PAUSE_MS = 2;

export type Waiter<T> = T & { done(): void };

/** Resolves when the awaited thing has happened, or when `signal` aborts. */
export type WaitFor<T> = (what: T, signal: AbortSignal) => Promise<void>;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A flag that can be waited for. */
class Hint {
  #given = false;
  #wake: (() => void) | undefined;

  give = (): void => {
    this.#given = true;
    this.#wake?.();
  };
  clear(): void {
    this.#given = false;
  }
  /** Resolves at the next hint, at once if there was one since `clear`, and after `ms` at the latest. */
  wait(ms: number): Promise<void> {
    if (this.#given) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Makes all waiters share one poll; without waiters nothing is polled. `poll` calls `done` for each wait that is over. A failed
 * poll, such as during an outage of the database, is repeated. `peek` does the same at each hint, for what this process already knows.
 */
export function createSharedPoll<T extends object>(
  onHint: (listener: () => void) => void,
  poll: (waiters: Waiter<T>[]) => Promise<void>,
  peek?: (waiter: Waiter<T>) => void,
): WaitFor<T> {
  const waiters = new Set<Waiter<T>>();
  const hint = new Hint();
  let isPolling = false;
  onHint(() => {
    if (peek) for (const waiter of waiters) peek(waiter);
    hint.give();
  });

  async function run(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (waiters.size > 0) {
      hint.clear();
      await poll([...waiters]).catch(() => {});
      await sleep(PAUSE_MS);
      if (waiters.size > 0) await hint.wait(POLL_MS);
    }
    isPolling = false;
  }

  return (what, signal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        waiters.delete(waiter);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const waiter: Waiter<T> = { ...what, done };
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", done);
      waiters.add(waiter);
      hint.give();
      void runOutsideRequest(run);
    });
}
