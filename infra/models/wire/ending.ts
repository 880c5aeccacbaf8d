import { setTimeout as wait } from "node:timers/promises";

/** What may follow the end of an answer: the end of its transfer, seldom more. */
const REST_MS = 1_000;

/**
 * The pieces of an answer, from `ask`, whose signal ends its request once nobody reads on. From when `ended` says that the answer is
 * whole, the little that is left is waited for briefly, so that the connection can carry the next request, and no failure counts.
 */
export async function* untilEnded<T>(
  ask: (signal: AbortSignal) => Promise<AsyncIterable<T>>,
  ended: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  try {
    const pieces = (await ask(AbortSignal.any([signal, left.signal])))[Symbol.asyncIterator]();
    for (;;) {
      const next = pieces.next();
      const read = await (ended() ? Promise.race([next, wait(REST_MS, undefined, { ref: false })]) : next);
      if (!read || read.done) return;
      yield read.value;
    }
  } catch (error) {
    if (!ended()) throw error;
  } finally {
    left.abort();
  }
}
