const readOwn = (): number => Date.now();
let read = readOwn;

/**
 * The time to compare with times of the log or of another machine, in epoch milliseconds: PostgreSQL's, also while the clock of this
 * process is wrong (docs/adr/0075-wrong-clocks-do-no-harm.md). Production code reads no other clock; `performance.now()` measures durations.
 */
export const currentTime = (): number => read();

/** Replaces the clock of this process. Returns a function that restores it. */
export function useClock(now: () => number): () => void {
  read = now;
  return () => {
    if (read === now) read = readOwn;
  };
}
