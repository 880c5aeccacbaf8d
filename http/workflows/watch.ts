/** How often it is looked while somebody waits; hints only make it faster. */
const POLL_MS = 500;
/** Between two looks: commits come by the hundred, and one look serves all who wait. */
const PAUSE_MS = 2;

export type Waiting<T> = T & { done(): void };

/** Resolves once what is asked for has come, or `signal` is aborted. */
export type Watch<T> = (asked: T, signal: AbortSignal) => Promise<void>;

/**
 * All who wait share one look, however many they are; without them nothing is asked. `look` calls `done` of those whose wait is
 * over. One that fails, because the database cannot be asked now, is repeated.
 */
export function createWatch<T extends object>(
  onHint: (listener: () => void) => void,
  look: (waiting: Waiting<T>[]) => Promise<void>,
): Watch<T> {
  const waiting = new Set<Waiting<T>>();
  let looking = false;
  let hinted = false;
  let wake: (() => void) | undefined;
  const hint = (): void => {
    hinted = true;
    wake?.();
  };
  onHint(hint);

  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const hintOrPoll = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (hinted) wake();
    });

  async function run(): Promise<void> {
    if (looking) return;
    looking = true;
    while (waiting.size > 0) {
      hinted = false;
      await look([...waiting]).catch(() => {});
      await pause(PAUSE_MS);
      if (waiting.size > 0) await hintOrPoll();
    }
    looking = false;
  }

  return (asked, signal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        waiting.delete(one);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const one: Waiting<T> = { ...asked, done };
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", done);
      waiting.add(one);
      hint();
      void run();
    });
}
