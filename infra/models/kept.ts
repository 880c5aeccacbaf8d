/** What is told stays good for so long; what could not be had is asked for again sooner. */
const FRESH_MS = 5 * 60_000;
const RETRY_MS = 30_000;
/** A provider that takes longer is treated as one that cannot be reached. */
const LIMIT_MS = 3_000;

/**
 * Something that a provider tells of itself: asked for once at a time, and kept. When it cannot be had, what was had last
 * stays in force. Neither way ever throws, or takes longer than 3 s; undefined where it was never had.
 */
export interface Kept<T> {
  /** Waits only where nobody has asked before; what is old is asked for meanwhile, for those who come later. */
  soon(): Promise<T | undefined>;
  /** Waits wherever it is time to ask again. */
  current(): Promise<T | undefined>;
}

export function keep<T>(ask: (signal: AbortSignal) => Promise<T>): Kept<T> {
  let known: T | undefined;
  let asked = false;
  let due = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function askAgain(): Promise<void> {
    try {
      known = await ask(AbortSignal.timeout(LIMIT_MS));
      due = Date.now() + FRESH_MS;
    } catch {
      due = Date.now() + RETRY_MS;
    }
    asked = true;
    asking = undefined;
  }
  const answer = (): Promise<void> | undefined => (Date.now() < due ? undefined : (asking ??= askAgain()));

  return {
    async soon() {
      const answered = answer();
      if (!asked) await answered;
      return known;
    },
    async current() {
      await answer();
      return known;
    },
  };
}
