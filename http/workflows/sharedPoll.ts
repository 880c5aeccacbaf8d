/** Time between two polls without a hint. Hints only make it faster, and some may be missed. */
const POLL_MS = 500;
/** Minimum time between two polls: commits can come by the hundred per second, and each gives a hint. */
const PAUSE_MS = 2;

export type Waiter<T> = T & { done(): void };

/** Resolves when what is waited for has happened, or when `signal` is aborted. */
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
  /** Resolves at the next hint, at once if one was given since `clear`, and after `ms` at the latest. */
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
 * All waiters share one poll, however many there are; without waiters nothing polls. `poll` calls `done` of those whose wait is
 * over. A poll that fails, because the database does not answer, is repeated.
 */
export function createSharedPoll<T extends object>(
  onHint: (listener: () => void) => void,
  poll: (waiters: Waiter<T>[]) => Promise<void>,
): WaitFor<T> {
  const waiters = new Set<Waiter<T>>();
  const hint = new Hint();
  let isPolling = false;
  onHint(hint.give);

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
      void run();
    });
}
